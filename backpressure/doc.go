// Package backpressure limits consumer lag: producers ask a gate before they send.
//
// From readings of the lag, a [Controller] computes the ceiling: how many records in total may have
// been admitted (ADR 0013). A [Gate] holds the ceiling and counts what it admitted. Producers ask
// the gate before each record or batch, and report the fate of each record once: with [Gate.Done]
// or [Gate.Unsure]. [Gate.Watch] reads the lag.
//
// A controller such as [Credit] keeps the lag at or below a bound at every moment, under the
// conditions in docs/BACKPRESSURE.md. If the lag cannot be read for the grace time, the gate is
// blind: it closes, or opens if Config.FailOpen is set.
//
// Files to know: controller.go, gate.go, report.go, credit.go, latency.go, waiters.go, own.go.
package backpressure
