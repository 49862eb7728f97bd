// Package payload makes the bytes of records, and reads them back.
//
// A record's bytes depend only on the scenario's class and seed and on the record's number. Making realistic bytes
// costs more than sending them, so they are made before the run. A Corpus is a supply of bodies; record s has body s
// mod Len. Len is such that no body repeats in one batch, where a codec would find it and reach an unrealistic ratio.
//
// A corpus may also hold the records of a file, which are sent unchanged.
//
// Before the body, or in a header of the record, is the stamp: the producer, the intended and actual send time, the sequence, and a checksum of
// everything. It reveals lost, repeated, reordered and damaged records, and latency is measured from its times.
//
// Files to know: corpus.go, file.go (the bodies are the records of a file), stamp.go, keys.go, classes.go, partition.go.
package payload
