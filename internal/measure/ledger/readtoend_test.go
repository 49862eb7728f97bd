package ledger

import "testing"

func TestReadToEndOutranksAcks(t *testing.T) {
	for _, offset := range []int64{-1, 1000} {
		sender, receiver := NewSender(0, 1), NewReceiver(0, 1)
		for range 3 {
			sender.Acked(0, sender.Next(0, true), offset)
		}
		receiver.Deliver(0, 0, true)
		for position, lost := range map[int64]int64{ReadToEnd: 2, 1: 0} {
			at := func(int32) int64 { return position }
			b := Close([]*Sender{sender}, []*Receiver{receiver}, at).Measured
			if b.Lost != lost || b.Pending != 2-lost {
				t.Errorf("acked at %d, read to %d: %d lost, %d pending; want %d lost", offset, position, b.Lost, b.Pending, lost)
			}
		}
	}
}
