// Package plant simulates Kafka, producers and a consumer group in virtual time, to try
// backpressure controllers on.
//
// In control engineering the plant is what is controlled. Here it has all that
// makes this one hard: the signal comes in steps (commits), late (polls that take
// time), and from members that do not commit together; capacity changes, stalls
// and moves between members; what was delivered and not committed is delivered
// again. It drives the real [backpressure.Gate] on a clock of its own, so gate and
// controller are tested together, a minute takes a fraction of a second, and the
// same seed gives the same run to the last record.
//
// Being a simulation, it knows what no reading tells: the true lag at every event,
// and when each record was delivered. From these it computes what a controller is
// judged by: overshoot, utilisation, times, settling, fairness, and what was shed.
//
// What it does not model: brokers that fail or slow down, fetches limited by size,
// leaders that move, records that arrive out of order within a partition.
//
// Files to know: plant.go, config.go, events.go, measure.go.
package plant
