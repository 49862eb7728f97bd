// Package kgogate puts a [backpressure.Gate] in front of a franz-go producer.
//
// [Open] makes all of it: the source of the lag, the gate and the producer. A [Producer] has the methods Produce, ProduceSync and Flush of a *kgo.Client. The producer asks
// the gate before the client gets a record. The client's promise reports the record's fate to the
// gate: acknowledged, certainly not in the log, or unknown. Config.Excess decides what happens to a
// record for which the gate has no room:
//
//	Block    Produce waits, until its context ends.
//	Shed     the promise gets an error at once.
//	Defer    the record waits in a limited queue, first in, first out; Produce
//	         returns at once. Records that do not fit are shed.
//	Degrade  the application decides: the record or a replacement waits as with
//	         Defer, or it is dropped.
//
// Set Record.Timestamp when the record is created: the client fills in a missing timestamp only
// after the wait.
//
// The bound needs acks=all and the idempotent producer, franz-go's defaults. With acks=1 an
// acknowledged record may not be below the high watermark yet. Without idempotence a retried record
// may be in the log twice. Open refuses a client without acknowledgements.
//
// A record that the client gives up counts for the gate's time of doubt. Open returns an error if
// that time is shorter than kgo.RecordDeliveryTimeout, or than a request can take:
// kgo.ProduceRequestTimeout + kgo.RequestTimeoutOverhead + 10 s for the replication. The second
// limit also applies to the gate's Inherit. Without kgo.RecordDeliveryTimeout (the default) the
// client keeps a record for ever, and the gate counts it for as long. So the bound holds through any
// outage.
//
// Files to know: producer.go, fate.go (the fate of a record), lag.go (the source).
package kgogate
