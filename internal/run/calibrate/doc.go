// Package calibrate measures what load this machine can offer, and keeps the answer for later runs.
//
// A load generator is part of what it measures: records that it sends late look like a slow Kafka.
// So calibrate searches the highest rate that the machine can offer, for several record sizes,
// against the embedded broker. That broker shares the processors with the load, so the answer is
// rather too low than too high. For each size, a closed loop gives the capacity. An open loop then
// tries parts of the capacity until one holds and the next higher one fails. A rate holds if the
// run is valid, at least 98 % of the offered rate is acked, and the pacer's lateness stays within
// its bound. A bisection between the two rates ends when they are a tenth apart, or when its tries
// are used up.
//
// A run that offers more than the calibration allows gets a warning. A disk is measured on request.
//
// Files to know: calibration.go, measure.go, disk.go.
package calibrate
