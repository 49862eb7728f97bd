package send

import (
	"kafkabench.example/kafka-bench/internal/plan/payload"
)

// chooser picks the partition of a worker's next record (ADR 0002).
type chooser interface {
	choose(now int64, key []byte, bytes int) int32
}

type roundRobin struct{ next, partitions int32 }

func (r *roundRobin) choose(int64, []byte, int) int32 {
	chosen := r.next
	r.next = (r.next + 1) % r.partitions
	return chosen
}

// sticky changes the partition when a batch would be full or the linger time has passed (KIP-480).
type sticky struct {
	current, partitions int32
	batchBytes          int
	linger              int64 // ns
	filled              int
	opened              int64
}

func (s *sticky) choose(now int64, _ []byte, bytes int) int32 {
	if s.filled > 0 && (s.filled+bytes > s.batchBytes || now-s.opened > s.linger) {
		s.current = (s.current + 1) % s.partitions
		s.filled = 0
	}
	if s.filled == 0 {
		s.opened = now
	}
	s.filled += bytes
	return s.current
}

// byKey uses the hash of Kafka's own clients; fallback places records without a key.
type byKey struct {
	partitions int32
	fallback   chooser
}

func (b *byKey) choose(now int64, key []byte, bytes int) int32 {
	if key == nil {
		return b.fallback.choose(now, key, bytes)
	}
	return payload.Partition(key, b.partitions)
}

type within struct {
	chooser
	partitions []int32
}

func (w within) choose(now int64, key []byte, bytes int) int32 {
	return w.partitions[w.chooser.choose(now, key, bytes)]
}
