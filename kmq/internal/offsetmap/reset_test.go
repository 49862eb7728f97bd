package offsetmap

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/kmq/internal/lease"
)

// Deleted records that were not done count as missing and are logged. Invariants 6 and 9.
func TestDeleted(t *testing.T) {
	w := filled(testConfig(), 4096, 50)
	defer w.halt()
	leases := w.receive(20)
	for _, l := range leases {
		if l.At.Offset < 5 || l.At.Offset >= 15 { // 5 to 14 are open, 20 to 49 were not delivered
			must(t, w.Ack(ctx, l))
		}
	}
	w.commitAll()
	if w.committed[0].At != 5 {
		t.Fatalf("committed %v", w.committed[0])
	}
	w.halt()
	w.open(w.cfg, 4096)
	w.logs[0] = w.logs[0][40:]
	w.assign(0)
	w.poll()
	if c := w.counted(); c.Missing != 30 {
		t.Errorf("%d missing, want 5 to 14 and 20 to 39", c.Missing)
	}
	for _, want := range []string{"level=WARN", "partition=0 from=5 to=40 missing=30"} {
		if !strings.Contains(w.log.String(), want) {
			t.Errorf("%q is not in the log:\n%s", want, w.log.String())
		}
	}
	if leases := w.receive(20); len(leases) != 10 || leases[0].At.Offset != 40 {
		t.Fatalf("received %v", describe(leases))
	}
	w.commitAll()
	if w.committed[0].At != 40 {
		t.Fatalf("committed %v", w.committed[0])
	}

	// Without a commit nothing is missing.
	w.produce(1, 20)
	w.logs[1] = w.logs[1][10:]
	w.assign(1)
	w.poll()
	if c := w.counted(); c.Missing != 30 {
		t.Errorf("%d missing after a partition without a commit", c.Missing)
	}
}

func (w *world) cutLog(partition int32, offset int64) {
	w.writing.Lock()
	defer w.writing.Unlock()
	w.logs[partition] = slices.DeleteFunc(slices.Clone(w.logs[partition]), func(r *kgo.Record) bool { return r.Offset >= offset })
	w.read[partition] = offset
}

func TestCutLog(t *testing.T) {
	for name, limit := range map[string]int{"ready": 4096, "held back": 20} {
		t.Run(name, func(t *testing.T) {
			cfg := testConfig()
			cfg.MaxInFlight = 1000
			w := filled(cfg, limit, 100)
			defer w.halt()
			leases := w.receive(20)
			for _, l := range leases[2:] {
				must(t, w.Ack(ctx, l))
			}
			gone := w.receive(100)
			w.commitAll()

			w.cutLog(0, 10)
			for i := range 20 {
				w.append(&kgo.Record{Topic: testTopic, Key: fmt.Append(nil, "other/", i)})
			}
			got := map[string]int{}
			for range 10 {
				w.poll()
				for _, l := range w.receive(100) {
					got[key(l)]++
					must(t, w.Ack(ctx, l))
				}
			}
			if len(got) != 20 || got["other/0"] != 1 || got["other/19"] != 1 {
				t.Fatalf("received %v, want the 20 others once", got)
			}
			for _, l := range gone {
				if err := w.Ack(ctx, l); !errors.Is(err, lease.ErrLost) {
					t.Fatalf("ack of a record that is no more: %v", err)
				}
			}
			w.commitAll()
			if w.committed[0].At != 0 {
				t.Fatalf("committed %v with open records below", w.committed[0])
			}
			must(t, w.Ack(ctx, leases[0]))
			must(t, w.Ack(ctx, leases[1]))
			w.commitAll()
			if !settled(w.committed[0], 30) || w.set.Len() != 0 || w.held != 0 || len(w.paused) != 0 {
				t.Fatalf("committed %v, %d in flight, %d held, paused %v", w.committed[0], w.set.Len(), w.held, w.paused)
			}
			if !strings.Contains(w.log.String(), "level=WARN") || !strings.Contains(w.log.String(), "from=10 to=100") {
				t.Errorf("logged:\n%s", w.log.String())
			}
		})
	}
}

func TestCommitBehindTheLog(t *testing.T) {
	w := filled(testConfig(), 4096, 50)
	defer w.halt()
	for i, l := range w.receive(50) {
		if i != 40 {
			must(t, w.Ack(ctx, l))
		}
	}
	w.commitAll()
	w.halt()
	w.open(w.cfg, 4096)
	w.assign(0)
	w.cutLog(0, 30)
	w.read[0] = 0 // auto.offset.reset
	w.poll()
	leases := w.receive(100)
	if len(leases) != 30 {
		t.Fatalf("received %d, want the 30 that there are", len(leases))
	}
	w.commitAll()
	if w.committed[0].At != 0 {
		t.Fatalf("committed %v", w.committed[0])
	}
	w.produce(0, 20) // the map marks all but one as done
	w.poll()
	if more := w.receive(100); len(more) != 20 {
		t.Fatalf("received %v, want the 20 that are new", describe(more))
	}
}

func TestCutWhileCopied(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := testConfig()
		cfg.InPlace = 1
		w := running(t, cfg, 1)
		w.keeping(true)
		must(t, w.Nack(ctx, w.one(t, "0/0", 1), time.Hour))
		synctest.Wait()
		w.keeping(false)
		w.cutLog(0, 0)
		w.append(&kgo.Record{Topic: testTopic, Key: []byte("other")})
		w.poll()
		w.tellKept()
		l := w.one(t, "other", 1)
		w.commitAll()
		if w.committed[0].At != 0 || w.partitions[0].moving != 0 || w.set.Len() != 1 {
			t.Fatalf("committed %v, %d moving, %d in flight", w.committed[0], w.partitions[0].moving, w.set.Len())
		}
		must(t, w.Ack(ctx, l))
		w.commitAll()
		if w.committed[0].At != 1 {
			t.Fatalf("committed %v", w.committed[0])
		}
	})
}

// Each wait of the record is longer than the one before; other records continue.
func TestRefusedAside(t *testing.T) {
	for _, why := range []error{kerr.MessageTooLarge, kerr.InvalidTimestamp, kerr.TopicAuthorizationFailed} {
		t.Run(why.Error(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cfg := testConfig()
				cfg.MaxDeliveries = 1
				w := running(t, cfg, 21)
				refusals := 0
				w.refusing(func(r *kgo.Record) error {
					if string(r.Key) != "0/0" {
						return nil
					}
					refusals++
					return why
				})
				for _, l := range w.receive(21) {
					must(t, w.Nack(ctx, l, 0))
				}
				synctest.Wait()
				if len(w.deadLetters()) != 20 || refusals != 1 || w.set.Excused() != 1 {
					t.Fatalf("%d dead letters, %d refusals, %d wait", len(w.deadLetters()), refusals, w.set.Excused())
				}
				time.Sleep(24 * time.Hour)
				synctest.Wait()
				if refusals < 24 || refusals > 200 {
					t.Errorf("tried %d times in a day", refusals)
				}
				if c := w.counted(); c.Retried != int64(refusals) || c.DeadLettered != 20 {
					t.Errorf("counted %+v after %d refusals", c, refusals)
				}
				w.none(t)
				w.refusing(nil)
				time.Sleep(time.Hour)
				synctest.Wait()
				w.commitAll()
				if w.committed[0].At != 21 || len(w.deadLetters()) != 21 {
					t.Errorf("committed %v with %d dead letters", w.committed[0], len(w.deadLetters()))
				}
			})
		})
	}
}

// A record whose copy is refused for good is delivered from its place, when it is due.
func TestRefusedRetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := running(t, testConfig(), 1)
		refusals := 0
		w.refusing(func(*kgo.Record) error { refusals++; return kerr.MessageTooLarge })
		for attempt := 1; attempt <= 64; attempt++ {
			must(t, w.Nack(ctx, w.one(t, "0/0", attempt), time.Hour))
			time.Sleep(time.Hour - time.Nanosecond)
			synctest.Wait()
			w.none(t)
			time.Sleep(time.Nanosecond)
			synctest.Wait()
		}
		if refusals != 1 {
			t.Errorf("copied %d times in 64 deliveries", refusals)
		}
		if c := w.counted(); c.Retried != int64(refusals) {
			t.Errorf("counted %d of %d refusals", c.Retried, refusals)
		}
	})
}

func TestLarge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := testConfig()
		cfg.MaxDeliveries = 2
		w := running(t, cfg, 2)
		w.assign(lease.Retry(0))
		w.allowLarge = true
		w.refusing(func(r *kgo.Record) error {
			if string(r.Key) == "0/0" {
				return kerr.MessageTooLarge
			}
			return nil
		})
		for range 2 {
			for _, l := range w.receive(10) {
				must(t, w.Nack(ctx, l, time.Hour))
			}
			synctest.Wait()
			w.poll()
			time.Sleep(time.Hour + time.Millisecond)
			synctest.Wait()
		}
		w.commitAll()
		c := w.counted()
		if len(w.deadLetters()) != 2 || w.committed[0].At != 2 || w.committed[lease.Retry(0)].At != 2 || c.Tailed != 2 || c.DeadLettered != 2 || c.Retried != 0 {
			t.Fatalf("%d dead letters, committed %v, counted %+v", len(w.deadLetters()), w.committed[0], c)
		}
	})
}

// A delivery is in the next commit, even if nothing else changed.
func TestHandedOutIsCommitted(t *testing.T) {
	w := filled(testConfig(), 4096, 1)
	defer w.halt()
	for attempt := 1; attempt <= 2; attempt++ {
		w.commitAll()
		before := w.committed[0]
		l := w.one(t, "0/0", attempt)
		w.commitAll()
		if w.committed[0] == before {
			t.Fatalf("delivery %d is not in the commit %v", attempt, before)
		}
		must(t, w.Nack(ctx, l, 0))
	}
}
