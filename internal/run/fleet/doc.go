// Package fleet makes runs with agents, which are processes on other machines or on this one. Each agent
// makes a part of the run.
//
// An agent ([RunAgent]) claims its index, waits for a plan, makes its part (bench.RunPart)
// and hands in what it has counted. A [Coordinator] is the bench.Fleet of a run: it writes
// plan and start and gathers what is handed in. They speak only through a log (package
// control) that all of them read and fold alike, and between the start and the end of the
// load no agent needs a record of it. If the coordinator dies, the agents finish all the
// same, and [Collect] reads from the log what they handed in.
//
// Files to know: session.go (how a process follows the log), agent.go, link.go, coordinator.go,
// spool.go.
package fleet
