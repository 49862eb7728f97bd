package offsetmap

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/kmq/internal/lease"
)

// Records that wait for another attempt take no room from others. Beyond RetryBytes they are read again when they are due
// and there is room for them.
func TestWaitingRecordsDoNotCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := testConfig()
		cfg.MaxInFlight, cfg.RetryBytes = 10, 3*len("0/0")
		w := running(t, cfg, 30)
		reads := 0
		inner := w.reread
		w.reread = func(ctx context.Context, p int32, offsets []int64) ([]*kgo.Record, error) {
			if reads++; reads == 1 {
				return nil, errors.New("no leader")
			}
			return inner(ctx, p, offsets)
		}
		for range 3 {
			for _, l := range w.receive(10) {
				must(t, w.Nack(ctx, l, time.Minute))
			}
			w.poll()
		}
		if w.set.Excused() != 30 || w.set.Len() != 0 || w.waitingBytes > cfg.RetryBytes || w.counted().Nacked != 30 {
			t.Fatalf("%d wait with %d bytes, %d in flight", w.set.Excused(), w.waitingBytes, w.set.Len())
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		seen := map[string]bool{}
		for range 10 {
			leases := w.receive(100)
			if len(leases) > cfg.MaxInFlight+3 {
				t.Errorf("%d records are in memory", len(leases))
			}
			for _, l := range leases {
				if l.Attempt != 2 || string(l.Record.Key) != string(w.logOf(0)[l.At.Offset].Key) {
					t.Errorf("received %s at %v for the %d. time", key(l), l.At, l.Attempt)
				}
				seen[key(l)] = true
				must(t, w.Ack(ctx, l))
			}
			time.Sleep(time.Second)
			synctest.Wait()
		}
		if w.commitAll(); len(seen) != 30 || w.committed[0].At != 30 || w.waitingBytes != 0 || reads < 2 {
			t.Errorf("%d records came again, committed %v, %d bytes left", len(seen), w.committed[0], w.waitingBytes)
		}
	})
}

// A record that is no longer in the log when it is to be read again is missing, and holds up nothing.
func TestAWaitingRecordIsDeleted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := testConfig()
		cfg.RetryBytes = 1
		w := running(t, cfg, 2)
		for _, l := range w.receive(2) {
			must(t, w.Nack(ctx, l, time.Second))
		}
		w.writing.Lock()
		w.logs[0] = w.logs[0][1:]
		w.writing.Unlock()
		time.Sleep(time.Second)
		synctest.Wait()
		must(t, w.Ack(ctx, w.one(t, "0/1", 2)))
		if w.commitAll(); w.committed[0].At != 2 || w.counted().Missing != 1 {
			t.Errorf("committed %v, counted %+v", w.committed[0], w.counted())
		}
	})
}

// An outage: everything fails. When three quarters of the map are full, those that are due last move, until it is half
// full; what is not due in the retry topic is not copied again.
func TestANearlyFullMapIsRelieved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := testConfig()
		cfg.MaxInFlight, cfg.InPlace = 10_000, 2*time.Hour
		w := newWorld(cfg, 100)
		w.gap = 1000 // so that the map is one of run lengths
		w.run(t)
		w.produce(0, 200)
		w.assign(0, lease.Retry(0))
		failed := 0
		for range 50 {
			w.poll()
			for n, l := range w.receive(1000) {
				failed++
				must(t, w.Nack(ctx, l, time.Hour+time.Duration(n)*time.Second))
			}
			synctest.Wait()
		}
		if held := len(w.partitions[0].held); failed != 200 || held != 0 {
			t.Fatalf("%d records failed, %d are held", failed, held)
		}
		moved := len(w.logOf(lease.Retry(0)))
		if moved == 0 || moved > failed || w.partitions[0].window.Open() == 0 {
			t.Fatalf("%d of %d failed records moved, %d stay", moved, failed, w.partitions[0].window.Open())
		}
		seen := map[string]bool{}
		for range 20 {
			time.Sleep(time.Hour)
			synctest.Wait()
			w.poll()
			for _, l := range w.receive(1000) {
				seen[key(l)] = true
				must(t, w.Ack(ctx, l))
			}
		}
		if again := len(w.logOf(lease.Retry(0))); len(seen) != 200 || again != moved || len(w.logOf(0)) != 200 || w.waitingBytes != 0 {
			t.Errorf("%d records came again; %d retries were written, then %d; %d bytes wait", len(seen), moved, again, w.waitingBytes)
		}
	})
}

// After a takeover a record that was delivered before waits as after a failure.
func TestATakeoverDelaysWhatWasDelivered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := testConfig()
		cfg.Delay = func(attempts int) time.Duration { return time.Duration(attempts) * time.Second }
		w := running(t, cfg, 2)
		must(t, w.Nack(ctx, w.receive(1)[0], 0))
		w.receive(1)
		w.commitAll() // 0/0 was delivered twice, and 0/1 not
		w.halt()
		w.open(cfg, 4096)
		w.run(t)
		w.assign(0)
		w.poll()
		must(t, w.Ack(ctx, w.one(t, "0/1", 1)))
		time.Sleep(2*time.Second - time.Millisecond)
		synctest.Wait()
		w.none(t)
		time.Sleep(2 * time.Millisecond)
		synctest.Wait()
		w.one(t, "0/0", 3)
	})
}

// Parked records do not count, and are read again if their bytes were not kept.
func TestPark(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := testConfig()
		cfg.RetryTopic, cfg.RetryBytes = "", len("0/0")
		w := running(t, cfg, 3)
		w.mu.Lock()
		taken := w.ready
		w.ready = nil
		w.mu.Unlock()
		w.Park(taken)
		if w.set.Len() != 0 || w.set.Excused() != 3 {
			t.Fatalf("%d in flight, %d excused", w.set.Len(), w.set.Excused())
		}
		if !w.Unpark(taken[0]) || w.Unpark(taken[1]) {
			t.Fatal("the first is complete, and the second is not")
		}
		synctest.Wait()
		if l := w.one(t, "0/1", 1); l != taken[1] || !w.IsOpen(l.At) {
			t.Errorf("received %v", l.At)
		} else if must(t, w.Ack(ctx, l)); w.IsOpen(l.At) {
			t.Error("it is open after it was acknowledged")
		}
		if w.revoke(0); w.IsOpen(taken[0].At) || w.waitingBytes != 0 {
			t.Errorf("it is open after a revocation, with %d bytes", w.waitingBytes)
		}
	})
}

// A record that failed for the last time, and whose dead letter is refused, is not delivered again, also if the map is
// nearly full.
func TestARefusedDeadLetterDoesNotMove(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := testConfig()
		cfg.MaxDeliveries = 1
		w := newWorld(cfg, 0) // no map
		w.refusing(func(r *kgo.Record) error {
			if r.Topic == "dead" {
				return kerr.TopicAuthorizationFailed
			}
			return nil
		})
		w.run(t)
		w.produce(0, 1)
		w.assign(0, lease.Retry(0))
		w.poll()
		must(t, w.Nack(ctx, w.one(t, "0/0", 1), 0))
		synctest.Wait()
		w.refusing(nil)
		time.Sleep(time.Hour)
		synctest.Wait()
		w.poll()
		w.none(t)
		if len(w.deadLetters()) != 1 || len(w.logOf(lease.Retry(0))) != 0 {
			t.Errorf("%d dead letters, %d retries", len(w.deadLetters()), len(w.logOf(lease.Retry(0))))
		}
	})
}

// A delivery that does not count is not in the commit, also while the record's copy is on its way.
func TestAnUncountedDeliveryMoves(t *testing.T) {
	w := filled(testConfig(), 4096, 1)
	defer w.halt()
	l := w.one(t, "0/0", 1)
	w.commitAll()
	must(t, w.Unhand(ctx, l, time.Hour))
	w.commitAll()
	if p, err := w.coder.decode(0, w.committed[0].Metadata); err != nil || len(p.delivered) != 0 {
		t.Errorf("committed %+v, %v", p, err)
	}
}

// A partition without a leader holds up no record of another that is to be read again.
func TestAPartitionThatCannotBeReadAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := testConfig()
		cfg.RetryBytes = 1
		w := newWorld(cfg, 4096)
		inner := w.reread
		w.reread = func(ctx context.Context, p int32, offsets []int64) ([]*kgo.Record, error) {
			if p == 0 {
				return nil, errors.New("no leader")
			}
			return inner(ctx, p, offsets)
		}
		w.run(t)
		w.produce(0, 2)
		w.produce(1, 2)
		w.assign(0, 1)
		w.poll()
		for _, l := range w.receive(4) {
			must(t, w.Nack(ctx, l, time.Second))
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if again := w.receive(4); len(again) != 2 || again[0].At.Partition != 1 {
			t.Errorf("received %v, want those of partition 1", describe(again))
		}
	})
}
