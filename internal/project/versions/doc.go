// Package versions makes whole runs on every version of Kafka that the tool can start. Its tests
// are slow and download each version once, so they belong to the proof.
package versions
