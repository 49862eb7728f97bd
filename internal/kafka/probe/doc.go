// Package probe looks at a run from the side: the consumer lag as the brokers
// see it, what the tool itself takes from the machine, what the local brokers
// take, what brokers tell about themselves, what the machine's disks and networks
// do, what the topic takes on disk, and what each codec would make of the run's own
// batches. Probes have clients and goroutines of their own and share nothing with
// the hot path.
//
// What an operating system does not offer is nil, never zero.
package probe
