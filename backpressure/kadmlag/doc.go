// Package kadmlag reads the lag of a consumer group from Kafka: a
// [backpressure.Source] over franz-go's admin client.
//
// The lag of a partition is its high watermark − the group's committed offset, and
// the two are answers to two requests, so one is older than the other. Here the
// committed offsets are asked for first. What is committed or written between the
// two requests then makes the lag look larger than it is, never smaller, and a
// bound that is kept on such readings is kept in truth.
//
// Each reading is one request for all committed offsets of the group and one to each broker
// for the high watermarks of the partitions it leads. How the group divides its
// partitions makes no difference: the classic protocol, the one of KIP-848, and
// consumers that assign partitions themselves and commit under the group's name
// are read alike. Share groups (KIP-932) have no committed offsets and are not.
//
// Files to know: source.go.
package kadmlag
