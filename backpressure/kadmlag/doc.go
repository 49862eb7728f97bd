// Package kadmlag reads the lag of a consumer group from Kafka: a [backpressure.Source] over
// franz-go's admin client.
//
// The lag of a partition is its high watermark − the group's committed offset. A reading asks for
// the committed offsets first, so the lag never looks too small, and a bound holds. A reading costs
// one request for all committed offsets of the group, and one to each broker for the high
// watermarks. The source works with the classic protocol, with KIP-848, and with consumers that
// assign partitions themselves and commit. Share groups (KIP-932) have no committed offsets, so it
// cannot read their lag.
//
// Files to know: source.go.
package kadmlag
