// Package kgogate puts a [backpressure.Gate] in front of a franz-go producer.
//
// A [Producer] has the Produce, ProduceSync and Flush of a *kgo.Client. Each record
// asks the gate before the client gets it, and the client's promise tells the gate
// what became of it: acknowledged, certainly not in the log, or of unknown fate
// (see fate.go). That is all that a bound needs from a producer.
//
// What becomes of a record for which there is no room is a choice of four:
//
//	Block    Produce waits. The time is the caller's, who sees it.
//	Shed     the promise gets an error at once, and it is counted.
//	Defer    the record waits in a queue with a bound, first in, first out;
//	         Produce returns at once. What the queue can't hold is shed.
//	Degrade  the application is asked: the record may wait after all, or
//	         another in its place, or none.
//
// Where records wait, their response times grow by it, and only the caller knows
// since when: set Record.Timestamp, or a stamp in the record itself, when the record
// came into being. The client sets the timestamp where it is zero, and that is
// after the wait.
//
// The guarantee of a bound rests on acknowledgements that mean "replicated": use
// acks=all and the idempotent producer, franz-go's defaults. With acks=1 an
// acknowledged record may not be below the high watermark yet, and without
// idempotence a retried one may be in the log twice: the lag can pass the bound
// by as many. Without acknowledgements nothing is known, and New refuses them.
//
// A record that the client gives up is in doubt for the gate's time of doubt, which
// New wants to be no shorter than kgo.RecordDeliveryTimeout, and no shorter than a
// request under way can take: kgo.ProduceRequestTimeout, kgo.RequestTimeoutOverhead and
// 10 s for the replication. The second holds for the gate's Inherit, too. Without that option, the
// default, the client keeps a record for ever and the gate counts it as long. So
// a bound of one gate, or with a fixed share, holds through any outage. A share that
// moves is given to others meanwhile: there, set RecordDeliveryTimeout and
// kgo.AllowIdempotentProduceCancellation, without which an idempotent client does not
// keep the timeout for records that it sent and got no answer to; or abort what
// the client has buffered when the share is fenced.
//
// Files to know: producer.go, fate.go (what became of a record).
package kgogate
