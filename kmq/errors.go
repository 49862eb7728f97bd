package kmq

import "kafkabench.example/kafka-bench/kmq/internal/lease"

// The errors of a queue, for use with errors.Is.
var (
	// ErrClosed: the queue is closed, and delivers nothing more.
	ErrClosed = lease.ErrClosed
	// ErrSettled: the delivery was already acknowledged, released or rejected.
	ErrSettled = lease.ErrSettled
	// ErrExpired: the acquisition lock has expired; the record is delivered again.
	ErrExpired = lease.ErrExpired
	// ErrLost: another member now has the partition, and delivers the record again. From [Queue.Flush]
	// and [Queue.Close] with [Share]: brokers refused or did not answer acknowledgements, whose
	// records may be delivered again.
	ErrLost = lease.ErrLost
	// ErrDelayed: the partition has as many delayed records as a process may keep, 65,536 with
	// Markers. The delivery stays open. Release it without a delay, or later, as [Queue.Run] does.
	ErrDelayed = lease.ErrDelayed
	// ErrUnsupported: the engine cannot do what was asked. The text says why, and what to use instead.
	ErrUnsupported = lease.ErrUnsupported
	// ErrConfig: the configuration is out of range, contradicts itself, or does not fit the
	// existing topics.
	ErrConfig = lease.ErrConfig
)
