package offsetmap

import (
	"encoding/binary"
	"math"
	"slices"

	"kafkabench.example/kafka-bench/kmq/internal/lease"
	"kafkabench.example/kafka-bench/kmq/internal/member"
)

// Mapped implements [member.Mapper].
func (h handler) Mapped(id int32) (end int64, epochs member.Epochs) {
	h.mu.Lock()
	defer h.mu.Unlock()
	p := h.partitions[id]
	end = p.window.End()
	if n := len(p.known); n > 0 {
		end = max(end, p.known[n-1].offset+1) // a count is of that record only
	}
	return end, p.epochs
}

// Read implements [member.Mapper].
func (h handler) Read(id int32, epochs member.Epochs, end int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if p := h.partitions[id]; p != nil {
		p.epochs, p.changed = epochs, true
		if p.end == 0 {
			p.end = end
		}
	}
}

// Cut implements [member.Cutter]: the log was truncated or created again, and has other records from an offset on.
func (h handler) Cut(id int32, offset int64) {
	<-h.started
	h.mu.Lock()
	defer h.mu.Unlock()
	p := h.partitions[id]
	if p == nil {
		return
	}
	h.cfg.Log.Warn("kmq: the log of a partition was truncated or created again; its new records are delivered, "+
		"and the earlier ones from that offset on are lost",
		"partition", lease.NumberInTopic(id), "watched", h.cfg.TopicOf(id), "from", offset, "to", max(p.read, p.window.End()))
	above := func(l *lease.Lease) bool { return l.At.Offset >= offset }
	kept := slices.DeleteFunc(p.held, above)
	h.held -= len(p.held) - len(kept)
	p.held = kept
	h.loseAll(func(l *lease.Lease) bool { return l.Private.(*slot).run.of == p && above(l) })
	p.cut(offset)
	h.release(p)
}

// The epochs of a map are their number, then for each its number after that of the one before. The first is
// followed by the committed offset after its first one, plus 1, or by 0 if that is not known. Each other is
// followed by the offsets that the epoch before it has, or has from the committed one on.
func appendEpochs(to []byte, floor int64, epochs member.Epochs) []byte {
	to = binary.AppendUvarint(to, uint64(len(epochs)))
	number, at := int32(0), floor
	for i, e := range epochs {
		to = binary.AppendUvarint(to, uint64(e.Number-number))
		switch {
		case i > 0:
			to = binary.AppendUvarint(to, uint64(e.From-at))
			at = e.From
		case e.From < 0:
			to = append(to, 0)
		default:
			to = binary.AppendUvarint(to, uint64(max(0, floor-e.From)+1))
		}
		number = e.Number
	}
	return to
}

func (b *varints) epochs(floor int64) member.Epochs {
	n := b.next()
	if n == 0 || n > int64(len(b.rest)/2) {
		b.fail("epochs cut short")
		return nil
	}
	epochs, number, at := make(member.Epochs, 0, n), int64(0), floor
	for i := range n {
		step, distance := b.next(), b.next()
		from := floor - distance + 1
		if i == 0 && distance == 0 {
			from = -1
		}
		if i > 0 && distance <= math.MaxInt64-at {
			at += distance
			from = at
		}
		if step > math.MaxInt32-number || i > 0 && step == 0 || from < -1 || b.bad != "" {
			b.fail("epochs out of range")
			return nil
		}
		number += step
		epochs = append(epochs, member.Epoch{Number: int32(number), From: from})
	}
	return epochs
}

// worstEpochs bounds the bytes of epochs in commits of offsets up to end.
func worstEpochs(epochs member.Epochs, end int64) int64 {
	if len(epochs) == 0 {
		return 0
	}
	n := int64(len(epochs))
	numbers := uvarintBytes(int64(epochs[0].Number)) + (n-1)*uvarintBytes(int64(epochs[n-1].Number-epochs[0].Number))
	return uvarintBytes(n) + numbers + n*uvarintBytes(end-max(0, epochs[0].From)+1)
}
