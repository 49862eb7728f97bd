package send

import (
	"testing"

	"kafkabench.example/kafka-bench/internal/measure/snapshot"
	"kafkabench.example/kafka-bench/internal/plan/payload"
)

func TestFillIsBeforeEverything(t *testing.T) {
	const records = 5_000
	fill := func(b *bench) { b.cfg.Volume, b.cfg.Fill, b.cfg.First = 100*records, true, 3 }
	inBubble(t, 0, fill, func(t *testing.T, b *bench) {
		b.ps.Start()
		<-b.ps.Done()
		b.ps.Close()
		before, measured := b.ps.Sent()
		if before.Acked != records || before.AckedBytes != 100*records || before.AckedInWindow != 0 || measured != (snapshot.Sent{}) {
			t.Errorf("%+v of before, %+v of the window; want %d records of before", before, measured, records)
		}
		senders := map[uint16]int{}
		for _, r := range b.kafka.produced {
			stamp, check := payload.ReadStamp(r.Value)
			if check != payload.Intact || stamp.Intended >= 0 || stamp.Actual != stamp.Intended {
				t.Fatalf("a record has the stamp %+v, which is %v", stamp, check)
			}
			senders[stamp.Producer]++
		}
		if len(senders) != 2 || senders[3] != records/2 || senders[4] != records/2 {
			t.Errorf("records by producer: %v; want half of them from each of 3 and 4", senders)
		}
		// Only lanes of the fill count here.
		if acked := b.ps.AckedIn(4); acked[0]+acked[1]+acked[2]+acked[3] != records {
			t.Errorf("acked by partition: %v", acked)
		}
	})
}
