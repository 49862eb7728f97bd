package markers

import (
	"slices"
	"sync"
	"time"

	"kafkabench.example/kafka-bench/kmq/internal/marker"
	"kafkabench.example/kafka-bench/kmq/internal/member"
)

// started is up to where the records of the partitions have durable starts, or need none:
// what may be committed of them.
type started struct {
	careful time.Duration // after a crash

	mu    sync.Mutex
	parts map[int32]*position
	era   uint64
}

// position is that of a partition. Its era tells one assignment from the next: a start
// that became durable after the partition was taken away says nothing about it when it is
// back.
type position struct {
	next  int64           // up to here all is done
	read  int64           // up to here records were read
	ahead map[int64]int64 // what is done beyond what is not, from and to
	era   uint64

	since   time.Time // when the first record of it was read; zero: none was
	first   bool      // what was read last is the first
	crashed bool      // the one who had it before did not leave it in order
}

// inUse is the metadata of a commit behind which records may be in somebody's hand, or settled
// already. Who leaves a partition in order commits without it.
const inUse = "in use"

// read is a run of records that were read: in which era, and behind which offset they follow
// on. What was left out in between is no record.
type read struct {
	partition int32
	from, to  int64
	era       uint64
}

func (s *started) assign(partition int32, committed member.Offset) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.era++
	at := committed.At
	s.parts[partition] = &position{next: at, read: at, ahead: map[int64]int64{}, era: s.era, crashed: committed.Metadata != ""}
}

func (s *started) forget(partitions []int32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range partitions {
		delete(s.parts, p)
	}
}

// reading notes that runs were read. Those of a partition that is not assigned are of era 0,
// which no partition has.
func (s *started) reading(runs []marker.Marker) []read {
	s.mu.Lock()
	defer s.mu.Unlock()
	reads := make([]read, len(runs))
	for _, m := range runs {
		if p := s.parts[m.Partition]; p != nil {
			p.first = false
		}
	}
	for i, m := range runs {
		to := m.Offset + int64(m.Count)
		reads[i] = read{partition: m.Partition, to: to}
		if p := s.parts[m.Partition]; p != nil {
			reads[i].era, reads[i].from = p.era, p.read
			p.read = to
			if p.since.IsZero() {
				p.since, p.first = time.Now(), true
			}
		}
	}
	return reads
}

// ours is whether a run's partition is still assigned as it was when the run was read.
func (s *started) ours(r read) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.parts[r.partition]
	return p != nil && p.era == r.era
}

// young is whether any of the runs is of a partition that nothing else was read of, or that its
// last owner did not leave in order and that is read only since a time, or later.
func (s *started) young(runs []marker.Marker, after time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(runs, func(m marker.Marker) bool {
		p := s.parts[m.Partition]
		return p == nil || p.first || p.crashed && p.since.After(after)
	})
}

// crashed is whether there is a partition that its last owner did not leave in order and that is
// read only since a time, or later.
func (s *started) crashed(after time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.parts {
		if p.crashed && p.since.After(after) {
			return true
		}
	}
	return false
}

// advance notes that runs have durable starts, or need none. Nothing moves past what has not:
// a run counts once all before it do.
func (s *started) advance(reads []read) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range reads {
		if p := s.parts[r.partition]; p != nil && p.era == r.era {
			p.advance(r.from, r.to)
		}
	}
}

func (p *position) advance(from, to int64) {
	if from != p.next {
		if from > p.next {
			p.ahead[from] = to
		}
		return
	}
	for ok := true; ok; to, ok = p.ahead[to] {
		delete(p.ahead, p.next)
		p.next = to
	}
}

// offsets are what may be committed of the partitions, which are about to be taken away; nil is
// all, which go on to be used.
func (s *started) offsets(partitions []int32) map[int32]member.Offset {
	s.mu.Lock()
	defer s.mu.Unlock()
	offsets := make(map[int32]member.Offset, len(s.parts))
	if partitions == nil {
		for p, at := range s.parts {
			offsets[p] = member.Offset{At: at.next, Metadata: inUse}
		}
		return offsets
	}
	for _, p := range partitions {
		if at := s.parts[p]; at != nil {
			offsets[p] = at.leave(s.careful)
		}
	}
	return offsets
}

// leave is what is committed last. A crash is forgotten once it was worked off.
func (p *position) leave(careful time.Duration) member.Offset {
	if p.next != p.read || p.crashed && (p.since.IsZero() || time.Since(p.since) < careful) {
		return member.Offset{At: p.next, Metadata: inUse}
	}
	return member.Offset{At: p.next, Free: true}
}
