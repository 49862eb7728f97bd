// Package backpressure limits consumer lag: producers ask a gate before they send.
//
// A [Gate] reads the lag from a [Source] and computes how many records may have been sent so far, by
// its [Controller]: [Credit] keeps the lag at or below a bound at every moment, under the conditions
// in docs/backpressure.md; [Latency] holds a time. Producers ask the gate before each record or
// batch, and report the fate of each record once: with [Gate.Done] or [Gate.Unsure].
//
// If the lag cannot be read for the grace time, the gate is blind: it closes, or opens if
// Config.FailOpen is set. Package kgogate does all this for a franz-go producer.
//
// It wraps the gate of the internal package lagcontrol.
//
// Files to know: gate.go, config.go, source.go.
package backpressure
