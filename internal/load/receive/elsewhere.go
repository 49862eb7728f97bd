package receive

import (
	"maps"
	"slices"

	"kafkabench.example/kafka-bench/internal/measure/ledger"
)

// Handed is what was handed over of a partition by a process that has it no more,
// for those that will have it. Without it they would take for new what its members
// had been handed and could not commit: a record that comes again has no time of its
// own, and is counted as a duplicate when it comes.
type Handed struct {
	Partition int32
	Books     *ledger.Receiver
	// Unfinished are the offsets of records whose work was lost, in order.
	Unfinished []int64
}

// Handed says of partitions what was handed over here.
func (ps partitions) Handed(partitions []int32) []Handed {
	var all []Handed
	for _, id := range partitions {
		p := ps[id]
		p.receiver.Lock()
		unfinished := slices.Sorted(maps.Keys(p.unfinished))
		p.receiver.Unlock()
		all = append(all, Handed{Partition: id, Books: p.receiver, Unfinished: unfinished})
	}
	return all
}

// Elsewhere tells what was handed over in other processes. The last of them knew of
// the work that was lost before.
func (ps partitions) Elsewhere(handed []Handed) {
	for _, h := range handed {
		p := ps[h.Partition]
		books := h.Books
		p.receiver.Lock()
		known := p.elsewhere
		p.receiver.Unlock()
		if known != nil {
			books = ledger.Merge([]*ledger.Receiver{known, books})
		}
		p.receiver.Lock()
		p.elsewhere = books
		p.unfinished = make(map[int64]struct{})
		for _, offset := range h.Unfinished {
			p.unfinished[offset] = struct{}{}
		}
		p.receiver.Unlock()
	}
}
