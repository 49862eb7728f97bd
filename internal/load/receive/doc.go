// Package receive is the receiving half of the hot path: a consumer group of real members,
// with the application behind them.
//
// A member polls, and hands each chunk to the worker of its partition, or does the work itself.
// A worker stamps a record when its turn has come, enters it into histograms and books, and
// works on it. What was processed is committed; what a partition that is taken away had waiting
// is dropped, and neither counted nor committed. Members may leave, vanish and join while the
// group runs.
//
// Files to know: group.go, change.go (members come and go), member.go (polls and commits),
// inbox.go, worker.go (hands over and works), partition.go (what is known of one),
// elsewhere.go (what other processes were handed).
package receive
