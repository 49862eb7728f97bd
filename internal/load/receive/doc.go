// Package receive is the receiving half of the hot path: a consumer group of real members, with the application
// behind them.
//
// A member polls and gives each chunk to the worker of its partition, or works on it itself. When the worker is free,
// it stamps a record as delivered, enters it into histograms and books, and works on it. The member commits processed
// records. At a revocation it drops waiting records, which are neither counted nor committed. Members may leave,
// vanish and join while the group runs.
//
// Files to know: group.go, change.go (members join and leave), member.go (polls and commits), inbox.go, worker.go
// (delivers and works), partition.go (positions and books), elsewhere.go (deliveries in other processes).
package receive
