package send

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"kafkabench.example/kafka-bench/internal/measure/snapshot"
	"kafkabench.example/kafka-bench/internal/plan/payload"
)

// The warm-up takes nothing off the volume.
func TestVolumeEndsTheWindow(t *testing.T) {
	for _, c := range []struct {
		name   string
		volume int64
		want   int64
	}{
		{"exactly", 50_000, 500},
		{"to the record that reaches it", 49_901, 500},
		{"uneven shares", 50_001, 501},
		{"less than a record for each", 2, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, 1000, func(b *bench) { b.cfg.Volume = c.volume }, func(t *testing.T, b *bench) {
				warmup, measured := b.offer(10 * time.Second)
				if warmup.Scheduled != 1000 || measured.Scheduled != c.want || measured.Acked != c.want || measured.AckedBytes != 100*c.want {
					t.Errorf("%d of the warm-up; %d measured, %d acked with %d bytes; want 1000, and %d of 100 bytes",
						warmup.Scheduled, measured.Scheduled, measured.Acked, measured.AckedBytes, c.want)
				}
				if want := c.want * int64(time.Millisecond); b.axis.End() != want {
					t.Errorf("the window ends at %v, want %v", time.Duration(b.axis.End()), time.Duration(want))
				}
				select {
				case <-b.ps.Spent():
				default:
					t.Error("the volume is not said to be spent")
				}
			})
		})
	}
}

func TestVolumeOfUnequalRecords(t *testing.T) {
	change := func(b *bench) {
		corpus, err := payload.NewCorpus(payload.Spec{Class: "zeros", Stamped: true,
			Sizes: payload.Sizes{Distribution: "uniform", Values: []int{60, 1000}}})
		if err != nil {
			t.Fatal(err)
		}
		b.cfg.Corpus, b.cfg.Volume = corpus, 200_000
	}
	inBubble(t, 1000, change, func(t *testing.T, b *bench) {
		_, measured := b.offer(10 * time.Second)
		if over := measured.AckedBytes - 200_000; over < 0 || over > 2*1000 {
			t.Errorf("%d bytes were acked; want 200,000 and at most a record of each worker more", measured.AckedBytes)
		}
		last := int64(0)
		for i := range b.kafka.produced {
			stamp, _ := payload.ReadStamp(b.kafka.produced[i].Value)
			last = max(last, stamp.Intended)
		}
		if end := b.axis.End(); end <= last || end > last+int64(2*time.Millisecond) {
			t.Errorf("the last record was due at %v, and the window ends at %v", time.Duration(last), time.Duration(end))
		}
	})
}

func TestRecordsEndTheWindow(t *testing.T) {
	for _, want := range []int64{1, 2, 500, 501} {
		t.Run(fmt.Sprint(want), func(t *testing.T) {
			inBubble(t, 1000, func(b *bench) { b.cfg.Records = want }, func(t *testing.T, b *bench) {
				warmup, measured := b.offer(10 * time.Second)
				if warmup.Acked != 1000 || measured.Scheduled != want || measured.Acked != want {
					t.Errorf("%d of the warm-up; %d measured, %d acked; want 1000, and %d", warmup.Acked, measured.Scheduled, measured.Acked, want)
				}
				if end := want * int64(time.Millisecond); b.axis.End() != end {
					t.Errorf("the window ends at %v, want %v", time.Duration(b.axis.End()), time.Duration(end))
				}
			})
		})
	}
}

func TestRecordsOfAClosedLoop(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		workers, records := rapid.IntRange(1, 9).Draw(r, "workers"), rapid.Int64Range(1, 300).Draw(r, "records")
		fill, round := rapid.Bool().Draw(r, "fill"), rapid.IntRange(0, 7).Draw(r, "round")
		change := func(b *bench) {
			b.cfg.Workers, b.cfg.Records, b.cfg.Fill, b.cfg.Round, b.cfg.MaxBuffered = workers, records, fill, round, 10
			b.kafka.ackAfter = func(int64) time.Duration { return 10 * time.Millisecond }
		}
		inBubble(t, 0, change, func(t *testing.T, b *bench) {
			var sent snapshot.Sent
			if fill {
				b.ps.Start()
				<-b.ps.Done()
				b.ps.Close()
				sent, _ = b.ps.Sent()
			} else {
				_, sent = b.offer(10 * time.Second)
			}
			if sent.Scheduled != records || sent.Acked != records {
				t.Errorf("%d workers offered %d records, %d acked; want %d", workers, sent.Scheduled, sent.Acked, records)
			}
			each := int64(0)
			for _, e := range b.ps.Each() {
				if each += e.Acked; fill && e.Acked != Dealt(records, workers, e.Number) {
					t.Errorf("worker %d of %d offered %d of %d records", e.Number, workers, e.Acked, records)
				}
			}
			if fill && each != records {
				t.Errorf("the workers by themselves offered %d of %d records", each, records)
			}
		})
	})
}

func TestRounds(t *testing.T) {
	const round, rounds = 10, 20
	change := func(b *bench) {
		b.cfg.Workers, b.cfg.Round, b.cfg.Records = 1, round, round*rounds
		i := 0
		b.kafka.ackAfter = func(int64) time.Duration {
			if i++; i%round == 0 {
				return 5 * time.Millisecond
			}
			return 0
		}
	}
	inBubble(t, 0, change, func(t *testing.T, b *bench) {
		b.axis.Set(0, 10*time.Second)
		b.ps.Start()
		<-b.ps.Done()
		b.ps.Close()
		if _, sent := b.ps.Sent(); sent.Acked != round*rounds || b.kafka.most != round {
			t.Errorf("%d records were acked, and %d were in flight at most; want %d and %d", sent.Acked, b.kafka.most, round*rounds, round)
		}
		for i, at := range b.kafka.at {
			if want := int64(i/round) * int64(5*time.Millisecond); at-b.kafka.at[0] != want {
				t.Fatalf("record %d was sent at %v, want %v", i, time.Duration(at-b.kafka.at[0]), time.Duration(want))
			}
		}
	})
}

func TestVolumeOfAClosedLoop(t *testing.T) {
	change := func(b *bench) {
		b.cfg.Volume, b.cfg.MaxBuffered = 50_000, 30
		b.kafka.ackAfter = func(int64) time.Duration { return time.Millisecond }
	}
	inBubble(t, 0, change, func(t *testing.T, b *bench) {
		warmup, measured := b.offer(10 * time.Second)
		if measured.Scheduled != 500 || measured.Acked != 500 || warmup.Scheduled == 0 {
			t.Errorf("%d measured records, %d acked, after %d of the warm-up; want 500, 500, some", measured.Scheduled, measured.Acked, warmup.Scheduled)
		}
		if end := time.Duration(b.axis.End()); end < 8*time.Millisecond || end > 10*time.Millisecond {
			t.Errorf("the window ends at %v; 60 records a millisecond make it about 9ms", end)
		}
	})
}

func TestWithoutWorkersNothingIsOffered(t *testing.T) {
	inBubble(t, 1000, func(b *bench) { b.cfg.Workers, b.cfg.Volume = 0, 100 }, func(t *testing.T, b *bench) {
		if warmup, measured := b.offer(time.Second); warmup.Scheduled+measured.Scheduled > 0 || b.kafka.clients > 0 {
			t.Errorf("%+v, %+v and %d clients without a worker", warmup, measured, b.kafka.clients)
		}
		if b.ps.Settings() != nil || b.ps.Spent() != nil || len(b.ps.Books()) > 0 || len(b.ps.AckedIn(4)) != 4 {
			t.Error("without workers there are settings, a volume, books, or no partitions")
		}
	})
}
