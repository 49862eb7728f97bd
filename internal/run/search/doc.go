// Package search finds the highest offered rate at which a run still meets what is expected of it.
//
// A run is a probe of one rate. A closed loop first gives the capacity. The search then tries
// rungs, which are multiples of the capacity, until one rate has passed and one has failed. Rungs
// are closer together where the answer is more likely:
//
//	      answer                        capacity
//	        │                              │
//	──┬─────┬─────▼────┬───────────────┬──┴──┬────────┬──────► rate
//	 0.01  0.024      0.15            0.9   1.1       2
//
// It then bisects at the geometric mean, because the resolution is a ratio. Between two rungs there
// are at most about 60 steps of 3 %: six probes.
//
// One probe may fail by accident. When the bracket has closed on a rate that failed, that rate is
// tried again, if there is a probe left. If a probe delivered nothing, or its tool could not
// measure, it is repeated. A probe with too few records for its expectations neither passed nor
// failed; the search continues at higher rates, which have more records.
//
// A longer run confirms the highest rate that passed. If it fails, the search continues below with
// long runs. Three probes are reserved for this; the last goes a fifth lower.
//
// The answer passed and was confirmed, and it is below every rate that failed.
//
// Search is a plain state: Next returns the next probe and Tell takes its outcome. It makes no run,
// reads no clock and knows no Kafka.
//
// Files to know: search.go, state.go.
package search
