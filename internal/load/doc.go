// Package load is the hot path: the workers that offer records on schedule and
// the group members that take them, with the stamps, the counters and the books
// in between.
//
// A producing worker never waits for anything but time. Its schedule is
// arithmetic: two cursors run over the same arrivals, one at the records that
// have come due, one at the records that were sent, and the records between
// them are the queue at the source. That queue holds nothing, because any
// record can be made again from its index; it is bounded by a number and costs
// no memory. When the gate or the client's buffer holds the worker back, the
// first cursor still moves on time, every record keeps its own intended send
// time, and the wait is part of its response time.
//
// Acknowledgements come back on the client's goroutines. There a record is only
// stamped and pushed on the worker's stack; the worker takes the whole stack at
// its next round and enters it into histograms and books under a lock taken once
// for all of them. That lock is what the interval sampler takes too.
package load
