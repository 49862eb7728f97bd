// Package lagcontrol has the gate of package backpressure, and the controllers that it offers.
//
// From readings of the lag, a [Controller] computes the ceiling: how many records in total may have
// been admitted (ADR 0009). A [Gate] holds the ceiling and counts what it admitted. Producers ask
// the gate before each record or batch, and report the fate of each record once: with [Gate.Done]
// or [Gate.Unsure]. [Gate.Watch] reads the lag. A run's own controllers use it too.
//
// Files to know: controller.go, gate.go, report.go, credit.go, latency.go, waiters.go, own.go.
package lagcontrol
