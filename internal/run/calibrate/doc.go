// Package calibrate measures what load this machine can offer, and keeps the answer for
// later runs.
//
// A load generator is part of what it measures. Whatever it cannot send on time
// looks like a slow Kafka, and the rate at which that begins depends on the
// machine and on the size of the records. So it is looked for once, without a
// Kafka: against the embedded broker, in the same process and on the same
// processors, which costs more than a broker elsewhere would, so that the figure
// errs to the safe side. For each size a closed loop says what can be sent at
// all, and the open loop is tried at falling shares of that until it holds: every
// record is offered and acknowledged in time, and the pacer keeps its bound. Then it
// is tried between the share that holds and the one that does not, until they are a
// tenth apart or time is up; what is left of the step is told with the rate. Beside
// the rates stand the parts that they are made of: how late a sleep wakes, what a
// reading of the clock costs, and what one record costs to make, to stamp and
// to record.
//
// A disk is measured when it is asked for: sequential writes are the yardstick for what
// brokers write.
//
// The verdict is kept, and a run that offers more than it says is told so.
//
// Files to know: calibration.go, measure.go, disk.go.
package calibrate
