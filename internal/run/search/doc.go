// Package search finds the highest offered rate at which a run still meets what is expected of it.
//
// A run is a probe of one rate. Probes are expensive, because each takes as long as the cluster
// needs to settle and a percentile needs records. A closed loop first gives the capacity. The
// search then tries rungs, which are parts of the capacity, until one rate has passed and one has
// failed. Rungs are closer together where the answer is more likely:
//
//	      answer                        capacity
//	        │                              │
//	──┬─────┬─────▼────┬───────────────┬──┴──┬────────┬──────► rate
//	 0.01  0.024      0.15            0.9   1.1       2
//
// It then bisects at the geometric mean, because the resolution is a ratio: each probe halves the
// remaining steps. Between two rungs there are at most about 60 steps of 3 %: six probes.
//
// One probe may fail by accident. A rate that failed is tried again before it bounds the answer.
// The search does this only when the bracket has closed on that rate, so that only one failure
// costs a second run. Without a probe left for that, the finding says so. If a probe delivered
// nothing, or its tool could not measure, it is repeated. A probe with too few records for its
// expectations neither passed nor failed. The search continues at higher rates, which have more
// records, and never at lower ones.
//
// A longer run confirms the highest rate that passed. If it fails, the search continues below with
// long runs, because short ones cannot decide. Two probes are reserved for this: a wide range is
// better than no answer. The answer passed and was confirmed, and it is below every rate that
// failed.
//
// Search is a plain state: Next returns the next probe and Tell takes its outcome. It makes no run,
// reads no clock and knows no Kafka, so a test can simulate thousands of searches.
//
// Files to know: search.go, state.go.
package search
