// Package fleet makes runs with agents, which are processes on other machines or on this one. Each
// agent makes a part of the run.
//
// An agent ([RunAgent]) claims its index, waits for a plan, makes its part (bench.RunPart) and
// hands in its counts. A [Coordinator] is the bench.Fleet of a run: it writes plan and start, and
// collects the parts. They communicate only through a log (package control). While the load runs,
// no agent needs the coordinator. If the coordinator dies, the agents finish, and [Collect] reads
// their parts from the log.
//
// Files to know: session.go (how a process follows the log), agent.go, link.go, coordinator.go,
// starting.go, gather.go, spool.go.
package fleet
