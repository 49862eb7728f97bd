// Package search finds the highest offered rate at which a run still meets what is
// expected of it.
//
// A run is a probe of one rate, and it is expensive: it takes as long as it
// takes for the machine and the cluster to settle and for the records to be
// enough for a percentile. So the search is frugal. A closed loop says what
// there is to be searched at all, its capacity. From there it goes by rungs,
// shares of the capacity that lie the closer together the likelier the answer is
// between them, until one rate has passed and one has not:
//
//	      answer                        capacity
//	        │                              │
//	──┬─────┬─────▼────┬───────────────┬──┴──┬────────┬──────► rate
//	 0.01  0.024      0.15            0.9   1.1       2
//
// It then bisects, at the geometric mean, because what is asked for is a ratio:
// each probe halves the number of steps of the resolution that are left, wherever
// on the scale they are. Between two rungs are some 60 steps of 3 % at the most:
// six probes.
//
// What one probe says may be an accident. A rate that failed is therefore tried
// again before it bounds the answer; not at once, when whatever disturbed it may
// still be there, but when the bracket has closed on it, so that only the one
// failure that matters costs a second run. Where no probe is left for that, the
// finding says so. A probe that delivered nothing, or whose tool was not able to
// measure, says nothing about its rate, and is made again. One whose records are
// too few for what is expected of them neither passed nor failed: the search goes
// on above it, where there are more, and never below.
//
// The highest rate that passed is confirmed by a longer run; where that fails, the
// search goes on below, with long runs, for the short ones have shown that they
// cannot tell. Two probes are kept for this end: a range that is not as narrow as
// it was to be is worth more than no answer. The answer is a rate that passed and
// was confirmed, and it is below every rate that failed.
//
// The search is a plain state: it says which probe comes next and is told what
// came of it. It makes no run, reads no clock and knows no Kafka, which is how
// thousands of searches are simulated in a test.
//
// Files to know: search.go, state.go.
package search
