// Package plant simulates Kafka, producers and a consumer group in virtual time, to try
// backpressure controllers on.
//
// The name is control engineering's word for the controlled system. The signal of this system is
// hard to use: it changes in steps (commits), late (polls take time), and from members that do not
// commit together. The capacity changes, stalls and moves between members. The package drives the
// real [backpressure.Gate] on its own clock. The same seed gives the same run to the last record.
//
// The simulation knows what no reading shows: the true lag at every event, and the time of each
// delivery.
//
// It does not model brokers that fail or slow down, fetches limited by size, leaders that move, or
// records that arrive out of order within a partition.
//
// Files to know: plant.go, config.go, events.go, measure.go.
package plant
