// Package backpressure keeps a producer from running away from its consumers.
//
// A [Controller] looks at how far the consumers are behind and decides how many
// records may have been admitted in all: the ceiling. A [Gate] holds that
// ceiling and the count of what was admitted; producers ask it before each
// record or batch. The two are apart on purpose. A controller is a plain value
// that is given every fact it decides on, the time included, so it is tested
// and simulated without a Kafka and without a clock; the gate is one atomic
// counter on the producer's path and knows nothing about lag.
//
// A ceiling covers every kind of controller with one rule. On/off control such
// as [Hysteresis] sets it to [Unlimited] or to zero. Credit control sets it to
// what is committed plus the bound. A rate controller raises it bit by bit.
//
// What to do with a record that is not admitted is the producer's business, and
// the honest ways are two: defer it, and let its waiting count in its response
// time, or shed it, and count it as shed.
package backpressure
