// Package backpressure keeps a producer from running away from its consumers.
//
// A [Controller] looks at how far the consumers are behind and decides how many
// records may have been admitted in all: the ceiling. A [Gate] holds that
// ceiling and the count of what was admitted; producers ask it before each
// record or batch. The two are apart on purpose. A controller is a plain value
// that is given every fact it decides on, the time included, so it is tested
// and simulated without a Kafka and without a clock; the gate is two atomic words
// on the producer's path and knows nothing about what is good for consumers.
//
// A ceiling covers every kind of controller with one rule. On/off control such
// as [Hysteresis] sets it to [Unlimited] or to zero. A controller with a bound,
// such as [Credit], sets it to what is settled plus what the bound has left.
//
// # What a bound promises
//
// The lag of a consumer group is known late: by the age of the reading, and by
// the time since the consumers last committed. A gate that closes when that
// number is high has let through too much by then. But a producer knows at once
// and exactly what it admitted, and the committed offset only grows. So if a
// [Mark] is taken, then the lag is read, then
//
//	ceiling = settled at the mark + max(0, bound − lag read)
//
// the high watermark can at no later time be above the one that was read by more
// than what was admitted and not settled at the mark, and the lag never exceeds
// the bound, however old the reading is. Records that fail, transaction markers
// and what was in the log before a restart need no case of their own: the next
// reading holds what is there. A gate with a [Fixed] share counts only its own
// records; after a restart it cannot tell its predecessor's from others, and
// counts all for a while: see Config.Inherit.
//
// It needs five things to be true. All producers of the topic ask the gate, or
// gates that share the bound: see [Share]. An acknowledged record is below the
// high watermark: see [Gate.Done]. A record comes into the log once: without
// idempotence, a retry may append it twice. Committed offsets are not set back by
// hand. And a process that was killed has no request under way any more when its
// successor first reads the lag: what comes into the log after that may be on top of
// the bound until it is committed. A topic that was deleted and made again is noticed when its log
// ends below what was committed before.
//
// # What a producer tells its gate
//
// Each record that was admitted is told of once: with [Gate.Done] when it was
// acknowledged or failed for good, or with [Gate.Unsure] when the client gave it
// up without knowing. A producer that forgets to holds credits for ever, and its
// gate closes; one that tells twice would break the bound, so what is told beyond
// what was admitted is left aside, and the gate says [Misused]. Who reads the lag is [Gate.Watch], or the application with
// [Gate.Mark], [Gate.Report], [Gate.Missed] and [Gate.Advance].
//
// # What becomes of the rest
//
// What to do with a record that is not admitted is the producer's business: it
// waits, is dropped, or is replaced by less, and each is counted. See [Excess]. When the lag cannot be read for a grace
// time the gate is blind; it closes then, or opens if the application is told to
// prefer a long queue to a stopped producer.
//
// Files to know: controller.go, gate.go, report.go, credit.go, latency.go, waiters.go,
// own.go.
package backpressure
