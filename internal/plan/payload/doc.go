// Package payload makes the bytes of records, and reads them back.
//
// A record's bytes are a function of the scenario's class and seed and of the
// record's number in the load, byte for byte: there is no clock in them and no
// other source of chance. Because making realistic bytes costs more than sending
// them, they are made before the run. A Corpus is a supply of bodies; record s
// carries body s mod Len, and Len is such that no body comes twice in one batch,
// where a codec would find it and reach a ratio that no real load has.
//
// In front of the body stands the stamp: who sent the record, when it was due,
// when it was sent, and a checksum over all of it. It is what finds a lost, a
// repeated, a reordered or a damaged record, and what latency is measured from.
//
// Files to know: corpus.go, stamp.go, keys.go, classes.go, partition.go.
package payload
