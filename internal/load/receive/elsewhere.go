package receive

import (
	"maps"
	"slices"

	"kafkabench.example/kafka-bench/internal/measure/ledger"
)

// Handed describes what a process delivered of a partition that it no longer has. The next owner needs it to recognise
// redelivered records.
type Handed struct {
	Partition int32
	Books     *ledger.Receiver
	// offsets of records whose work was lost, ascending
	Unfinished []int64
}

// Handed returns what was delivered here, by partition.
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

// Elsewhere adds what other processes delivered. Of several entries for a partition, it merges the
// Books, but takes Unfinished from the last one, which also has the unfinished records of the
// owners before.
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
