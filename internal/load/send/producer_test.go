package send

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/lagcontrol"
	"kafkabench.example/kafka-bench/internal/measure/latency"
	"kafkabench.example/kafka-bench/internal/plan/payload"
)

func TestEveryRecordIsOfferedAtItsTime(t *testing.T) {
	inBubble(t, 1000, nil, func(t *testing.T, b *bench) {
		warmup, measured := b.offer(2 * time.Second)
		if warmup.Acked != 1000 || measured.Acked != 2000 || measured.Scheduled != 2000 {
			t.Errorf("acked %d in the warm-up and %d of %d after; want 1000 and 2000 of 2000",
				warmup.Acked, measured.Acked, measured.Scheduled)
		}
		seen := make(map[int64]bool)
		for i, r := range b.kafka.produced {
			stamp, check := payload.ReadStamp(r.Value)
			if check != payload.Intact {
				t.Fatalf("record %d: check %v", i, check)
			}
			// A sleep lasts at least minSleep.
			if late := b.kafka.at[i] - stamp.Intended; late < 0 || late > int64(minSleep) {
				t.Fatalf("record %d was due at %d and sent at %d", i, stamp.Intended, b.kafka.at[i])
			}
			if stamp.Actual != b.kafka.at[i] || stamp.Run != 7 || stamp.Partition != r.Partition {
				t.Fatalf("record %d, sent at %d to partition %d: stamp %+v", i, b.kafka.at[i], r.Partition, stamp)
			}
			seen[stamp.Intended] = true
		}
		for i := range int64(3000) {
			if due := -int64(time.Second) + i*int64(time.Millisecond); !seen[due] {
				t.Fatalf("no record was due at %d", due)
			}
		}
	})
}

func TestSequencesCountEachLane(t *testing.T) {
	inBubble(t, 1000, nil, func(t *testing.T, b *bench) {
		b.offer(time.Second)
		type lane struct {
			producer  uint16
			partition int32
		}
		next := make(map[lane]uint64)
		for _, r := range b.kafka.produced {
			s, _ := payload.ReadStamp(r.Value)
			l := lane{s.Producer, s.Partition}
			if s.Sequence != next[l] {
				t.Fatalf("lane %+v: sequence %d, want %d", l, s.Sequence, next[l])
			}
			next[l]++
		}
		if len(next) != 8 {
			t.Errorf("%d lanes, want 2 workers × 4 partitions", len(next))
		}
	})
}

func TestLanesStayOnTheirClient(t *testing.T) {
	for _, clients := range []int{1, 2, 3, 6} {
		inBubble(t, 1000, func(b *bench) { b.cfg.Clients = clients }, func(t *testing.T, b *bench) {
			b.offer(time.Second)
			used := make(map[int]bool)
			lanes := make(map[[2]int]int)
			for i, r := range b.kafka.produced {
				stamp, _ := payload.ReadStamp(r.Value)
				lane := [2]int{int(stamp.Producer), int(r.Partition)}
				if by, seen := lanes[lane]; seen && by != b.kafka.by[i] {
					t.Fatalf("%d clients: lane %v went by client %d and by %d", clients, lane, by, b.kafka.by[i])
				}
				lanes[lane], used[b.kafka.by[i]] = b.kafka.by[i], true
			}
			if len(used) != clients {
				t.Errorf("%d of %d clients were used", len(used), clients)
			}
		})
	}
}

// Records go out on time while a broker sends no acks, and their response times contain the wait.
func TestStallIsInTheResponseTimes(t *testing.T) {
	ackAfter := func(now int64) time.Duration {
		return 500*time.Microsecond + max(0, 500*time.Millisecond-time.Duration(max(now, 0)))
	}
	inBubble(t, 1000, func(b *bench) { b.kafka.ackAfter = ackAfter }, func(t *testing.T, b *bench) {
		b.offer(2 * time.Second)
		want := latency.NewHistogram()
		for i := range int64(2000) {
			want.Record(int64(ackAfter(i * int64(time.Millisecond))))
		}
		if got, want := b.times(latency.SendResponseTime), want.Distribution(); !reflect.DeepEqual(got, want) {
			t.Errorf("response times %+v; want %+v", got, want)
		}
	})
}

// The wait for a full buffer is in the send delay, not in the pacer's lateness.
func TestFullBufferHoldsRecordsBack(t *testing.T) {
	slow := func(b *bench) {
		b.cfg.MaxBuffered = slabSize
		b.kafka.ackAfter = func(now int64) time.Duration {
			return max(0, time.Second-time.Duration(max(now, 0)))
		}
	}
	inBubble(t, 1000, slow, func(t *testing.T, b *bench) {
		_, measured := b.offer(2 * time.Second)
		if measured.Acked != 2000 || measured.Deferred() != 0 {
			t.Errorf("acked %d, deferred %d; want all 2000 in the end", measured.Acked, measured.Deferred())
		}
		if b.kafka.most > 2*slabSize {
			t.Errorf("%d records in flight, above the bound of %d", b.kafka.most, 2*slabSize)
		}
		if late := b.times(latency.PacerLateness); late.MaxNs > int64(retryEvery) {
			t.Errorf("the pacer was %v late", time.Duration(late.MaxNs))
		}
		if delay := b.times(latency.SendDelay); delay.MaxNs < int64(400*time.Millisecond) {
			t.Errorf("the longest send delay is %v; the buffer was full from 0.5 s to 1 s", time.Duration(delay.MaxNs))
		}
	})
}

func TestClosedGateDefers(t *testing.T) {
	inBubble(t, 1000, func(b *bench) { b.cfg.Gate = closedGate() }, func(t *testing.T, b *bench) {
		b.axis.Set(time.Second, time.Second)
		b.ps.Start()
		time.Sleep(3 * time.Second)
		b.ps.Close()
		_, measured := b.ps.Sent()
		if measured.Scheduled != 1000 || measured.Deferred() != 1000 || measured.Admitted != 0 {
			t.Errorf("%+v; want 1000 scheduled, all of them deferred", measured)
		}
		if peak := b.ps.DeferredPeak(); peak != 2000 {
			t.Errorf("deferred peak %d, want 2000 with the warm-up's", peak)
		}
		// Shares of a bound follow demand, which is what the gate refuses. So not only the oldest record asks.
		asked := int64(3 * time.Second / retryEvery)
		if refused := b.cfg.Gate.Stats().Refused; refused < 20*asked {
			t.Errorf("%d records were refused in %d milliseconds", refused, asked)
		}
	})
}

func TestClosedGateSheds(t *testing.T) {
	inBubble(t, 1000, func(b *bench) { b.cfg.Gate, b.cfg.Excess = closedGate(), Shed }, func(t *testing.T, b *bench) {
		warmup, measured := b.offer(time.Second)
		if measured.ShedByGate != 1000 || warmup.ShedByGate != 1000 || measured.Admitted != 0 {
			t.Errorf("warm-up %+v, measured %+v; want 1000 shed of each", warmup, measured)
		}
	})
}

func TestFullQueueShedsTheOldest(t *testing.T) {
	inBubble(t, 1000, func(b *bench) { b.cfg.Gate, b.cfg.MaxDeferred = closedGate(), 100 }, func(t *testing.T, b *bench) {
		b.axis.Set(time.Second, time.Second)
		b.ps.Start()
		time.Sleep(3 * time.Second)
		b.ps.Close()
		warmup, measured := b.ps.Sent()
		if warmup.ShedByQueue != 1000 || measured.ShedByQueue != 900 || measured.Deferred() != 100 {
			t.Errorf("warm-up %+v, measured %+v; want the youngest 100 to wait", warmup, measured)
		}
	})
}

func TestOutcomesAreCounted(t *testing.T) {
	mixed := func(b *bench) {
		b.kafka.outcome = func(i int) driver.Outcome { return driver.Outcome(i % 3) }
	}
	inBubble(t, 900, mixed, func(t *testing.T, b *bench) {
		warmup, measured := b.offer(time.Second)
		warmup.Add(measured)
		if warmup.Acked != 600 || warmup.Failed != 600 || warmup.Unknown != 600 || warmup.InFlight() != 0 {
			t.Errorf("%+v; want 600 of each outcome", warmup)
		}
	})
}

// Records that a client refuses at once do not make the others look faster.
func TestUnackedTimesAreTheirOwn(t *testing.T) {
	refused := func(b *bench) {
		wait := 10 * time.Millisecond
		b.kafka.outcome = func(i int) driver.Outcome {
			if i%10 == 9 {
				wait = 100 * time.Microsecond
				return driver.Failed
			}
			wait = 10 * time.Millisecond
			return driver.Acked
		}
		b.kafka.ackAfter = func(int64) time.Duration { return wait }
	}
	inBubble(t, 10_000, refused, func(t *testing.T, b *bench) {
		_, measured := b.offer(time.Second)
		acked, unacked := b.times(latency.SendServiceTime), b.times(latency.UnackedServiceTime)
		if acked.Count != measured.Acked || acked.MinNs != 10e6 || unacked.Count != measured.Failed || unacked.MinNs != 100e3 || acked.Count != 9*unacked.Count {
			t.Errorf("%d sends took %d ns at the least and %d refusals %d ns, of %+v", acked.Count, acked.MinNs, unacked.Count, unacked.MinNs, measured)
		}
		if response := b.times(latency.UnackedResponseTime); response.Count != measured.Failed || b.times(latency.SendResponseTime).Count != measured.Acked {
			t.Errorf("%d of %d refusals have a response time", response.Count, measured.Failed)
		}
		of := latency.Population{Records: measured.Scheduled, Open: latency.UnackedServiceTime}
		got := b.all.TotalsAmong(latency.SendServiceTime, of)
		if got.P50Ns/1e5 != 100 || got.P90Ns/1e5 != 100 || got.P95Ns/1e4 != 999 || slices.Contains(got.AtLeast, "p90_ns") || !slices.Contains(got.AtLeast, "p95_ns") {
			t.Errorf("p90 is 10 ms and p95 more, not %+v", got)
		}
	})
}

func TestClosedLoopKeepsTheBufferFull(t *testing.T) {
	closed := func(b *bench) {
		b.cfg.MaxBuffered = slabSize
		b.kafka.ackAfter = func(int64) time.Duration { return 50 * time.Millisecond }
	}
	inBubble(t, 0, closed, func(t *testing.T, b *bench) {
		_, measured := b.offer(time.Second)
		if want := int64(2 * slabSize * 20); measured.Acked < want*9/10 || measured.Acked > want {
			t.Errorf("acked %d, want about %d", measured.Acked, want)
		}
		if d := b.times(latency.SendResponseTime); d.Count != 0 {
			t.Errorf("a closed loop has %d response times", d.Count)
		}
		if d := b.times(latency.SendServiceTime); d.Count != measured.Acked {
			t.Errorf("%d service times for %d records", d.Count, measured.Acked)
		}
	})
}

func TestAClosedLoopKeepsItsRate(t *testing.T) {
	paced := func(b *bench) {
		b.cfg.MaxPerS = 1000
		b.kafka.ackAfter = func(int64) time.Duration { return 5 * time.Millisecond }
	}
	inBubble(t, 0, paced, func(t *testing.T, b *bench) {
		_, measured := b.offer(10 * time.Second)
		if measured.Acked < 9_900 || measured.Acked > 10_000+20 { // of 1,000/s, and a burst of 20 ms
			t.Errorf("acked %d in 10 s, of at most 1,000/s", measured.Acked)
		}
	})
}

// A closed loop returns unused credits, and asks for none after its end.
func TestClosedLoopTakesNoRoomThatItDoesNotUse(t *testing.T) {
	for _, volume := range []int64{0, 6000} {
		closed := func(b *bench) {
			gate, err := lagcontrol.New(lagcontrol.Config{})
			if err != nil {
				panic(err)
			}
			b.cfg.MaxBuffered, b.cfg.Gate, b.cfg.Volume = slabSize, gate, volume
			b.kafka.ackAfter = func(int64) time.Duration { return 50 * time.Millisecond }
		}
		inBubble(t, 0, closed, func(t *testing.T, b *bench) {
			warmup, measured := b.offer(time.Second)
			s := b.cfg.Gate.Stats()
			sent := warmup.Admitted + measured.Admitted
			if held := s.Admitted - s.Settled; held != 0 || volume == 0 && s.Admitted != sent {
				t.Errorf("volume %d: %d records were sent; of the gate %d were admitted and %d settled", volume, sent, s.Admitted, s.Settled)
			}
		})
	}
}

func TestEarlyEndStopsOffering(t *testing.T) {
	inBubble(t, 1000, nil, func(t *testing.T, b *bench) {
		b.axis.Set(time.Second, 10*time.Second)
		b.ps.Start()
		time.Sleep(1999500 * time.Microsecond)
		b.axis.EndAt(b.axis.Now())
		<-b.ps.Done()
		b.ps.Close()
		if _, measured := b.ps.Sent(); measured.Acked != 1000 || measured.Deferred() != 0 {
			t.Errorf("%+v; want the 1000 records of one second", measured)
		}
	})
}

func TestErrorMessagesAreBounded(t *testing.T) {
	p := &producer{errors: [2]map[string]int64{{}, {}}}
	for i := range 3 * maxErrors {
		p.countError(true, errors.New(string(rune('a'+i))))
	}
	for i := range 1200 {
		p.countError(false, fmt.Errorf("no record of t/%d was completed for 1.%02ds, and the delivery timeout has passed", i%6, i%97))
	}
	if e := p.errors[1]; len(e) != maxErrors+1 || e["other errors"] != 2*maxErrors {
		t.Errorf("%d messages, %d others", len(e), e["other errors"])
	}
	if len(p.errors[0]) != 1 || p.errors[0]["no record of t/N was completed for N, and the delivery timeout has passed"] != 1200 {
		t.Errorf("the warm-up has %v, want its own, of one kind", p.errors[0])
	}
}

func TestMaxBufferedIsExact(t *testing.T) {
	closed := func(b *bench) {
		b.cfg.Workers, b.cfg.MaxBuffered = 1, 1
		b.kafka.ackAfter = func(int64) time.Duration { return 10 * time.Millisecond }
	}
	inBubble(t, 0, closed, func(t *testing.T, b *bench) {
		_, measured := b.offer(time.Second)
		if b.kafka.most != 1 || measured.Acked < 90 || measured.Acked > 101 {
			t.Errorf("%d in flight at once, %d acked in a second of 10 ms each; want 1, about 100", b.kafka.most, measured.Acked)
		}
	})
}

// The last due records wait at the source and are in the books.
func TestNothingIsForgottenWithoutADrain(t *testing.T) {
	inBubble(t, 1000, nil, func(t *testing.T, b *bench) {
		b.axis.Set(0, time.Second)
		b.ps.Start()
		time.Sleep(time.Second)
		b.ps.Close()
		warmup, measured := b.ps.Sent()
		if warmup.Scheduled+measured.Scheduled != 2000 || measured.InFlight() != 0 {
			t.Errorf("%d scheduled in the warm-up, %d after, want 1000 of each", warmup.Scheduled, measured.Scheduled)
		}
	})
}
