package ledger

import "testing"

func BenchmarkDeliver(b *testing.B) {
	r, seq := NewReceiver(0, 8), uint64(0)
	b.ReportAllocs()
	for b.Loop() {
		r.Deliver(3, seq, true)
		seq++
	}
}

// Each record leaves a gap, so the bound is always hit.
func BenchmarkDeliverEverySecond(b *testing.B) {
	r, seq := NewReceiver(0, 8), uint64(0)
	b.ReportAllocs()
	for b.Loop() {
		r.Deliver(3, seq, true)
		seq += 2
	}
}

func BenchmarkDeliverSwapped(b *testing.B) {
	r, seq := NewReceiver(0, 8), uint64(0)
	b.ReportAllocs()
	for b.Loop() {
		r.Deliver(3, seq^1, true)
		seq++
	}
}

func BenchmarkNextAcked(b *testing.B) {
	s := NewSender(0, 12)
	b.ReportAllocs()
	for b.Loop() {
		seq := s.Next(7, true)
		s.Acked(7, seq, int64(seq))
	}
}

func BenchmarkClose(b *testing.B) {
	var senders []*Sender
	var receivers []*Receiver
	for p := range 8 {
		senders = append(senders, NewSender(p, 12))
	}
	for p := range int32(12) {
		r := NewReceiver(p, len(senders))
		for producer, s := range senders {
			for range 2000 {
				seq := s.Next(p, true)
				s.Acked(p, seq, int64(seq))
				if seq%2 == 1 {
					r.Deliver(producer, seq, true)
				}
			}
		}
		receivers = append(receivers, r)
	}
	b.ReportAllocs()
	for b.Loop() {
		Close(senders, receivers, func(int32) int64 { return 0 })
	}
}
