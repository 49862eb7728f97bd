package offsetmap

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/kmq/internal/lease"
)

// While the dead-letter topic is missing, the first Reject fails after a few seconds, the next one
// at once. The records are delivered again later.
func TestRejectNowhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := testConfig()
		cfg.Visibility = time.Minute
		w := running(t, cfg, 2)
		leases := w.receive(2)
		w.refusing(func(*kgo.Record) error { return kerr.UnknownTopicOrPartition })
		began := time.Now()
		for _, l := range leases {
			soon, cancel := context.WithTimeout(ctx, 30*time.Second)
			if err := w.Reject(soon, l, "no"); !errors.Is(err, kerr.UnknownTopicOrPartition) {
				t.Fatalf("reject: %v", err)
			}
			cancel()
		}
		if took := time.Since(began); took < time.Second || took > 10*time.Second {
			t.Fatalf("refused after %v", took)
		}
		synctest.Wait()
		w.none(t)
		w.refusing(nil)
		time.Sleep(cfg.Visibility)
		synctest.Wait()
		again := w.receive(2)
		if len(again) != 2 || again[0].Attempt != 2 {
			t.Fatalf("received %v", describe(again))
		}
		must(t, w.Reject(ctx, again[0], "no"))
		must(t, w.Reject(ctx, again[1], "no"))
		w.commitAll()
		if c := w.counted(); w.committed[0].At != 2 || c.Rejected != 2 || c.DeadLettered != 2 {
			t.Fatalf("committed %v, counted %+v", w.committed[0], c)
		}
	})
}

// After the lock has expired during a Reject, the result of the copy changes nothing.
func TestLockRunsOutBesideReject(t *testing.T) {
	for _, outcome := range []error{nil, kerr.NotEnoughReplicas, kerr.TopicAuthorizationFailed, context.Canceled} {
		synctest.Test(t, func(t *testing.T) {
			cfg := testConfig()
			w := running(t, cfg, 1)
			first := w.one(t, "0/0", 1)
			w.refusing(func(*kgo.Record) error { return outcome })
			w.keeping(true)
			rejected := make(chan error, 1)
			go func() { rejected <- w.Reject(ctx, first, "no") }()
			time.Sleep(cfg.Visibility - time.Nanosecond)
			synctest.Wait()
			w.none(t)
			time.Sleep(time.Nanosecond)
			synctest.Wait()
			second := w.one(t, "0/0", 2)
			if err := <-rejected; !errors.Is(err, lease.ErrExpired) {
				t.Fatalf("reject: %v", err)
			}
			w.keeping(false)
			w.tellKept()
			synctest.Wait()
			w.none(t)
			w.commitAll()
			if w.committed[0].At != 0 {
				t.Fatalf("committed %v while the record is lent again", w.committed[0])
			}
			must(t, w.Ack(ctx, second))
			w.commitAll()
			if c := w.counted(); w.committed[0].At != 1 || c.Expired != 1 || c.Acked != 1 || c.Rejected != 0 {
				t.Fatalf("committed %v, counted %+v", w.committed[0], c)
			}
		})
	}
}

func TestClientGivesUpBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := testConfig()
		cfg.MaxDeliveries = 1
		w := running(t, cfg, 2)
		leases := w.receive(2)
		givenUp := 0
		w.refusing(func(*kgo.Record) error {
			if givenUp++; givenUp <= 2 {
				return context.Canceled
			}
			return nil
		})
		must(t, w.Nack(ctx, leases[0], 0)) // no deliveries are left
		if err := w.Reject(ctx, leases[1], "no"); err != nil {
			t.Errorf("reject: %v", err)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		w.commitAll()
		if n := len(w.deadLetters()); n != 2 || w.committed[0].At != 2 {
			t.Errorf("%d of 2 dead letters, committed %v", n, w.committed[0])
		}
	})
}

// The wait for a copy is bounded. If the copy fails, Reject returns ErrLost, or ErrExpired if the
// lock expired before.
func TestRevokedBesideReject(t *testing.T) {
	for visibility, want := range map[time.Duration]error{10 * time.Second: lease.ErrExpired, time.Minute: lease.ErrLost} {
		synctest.Test(t, func(t *testing.T) {
			cfg := testConfig()
			cfg.Visibility = visibility
			w := running(t, cfg, 1)
			first := w.one(t, "0/0", 1)
			w.refusing(func(*kgo.Record) error { return kerr.NotEnoughReplicas })
			w.keeping(true)
			rejected := make(chan error, 1)
			go func() { rejected <- w.Reject(ctx, first, "no") }()
			synctest.Wait()
			began := time.Now()
			w.revoke(0)
			if took := time.Since(began); took != copiesFor {
				t.Fatalf("revoked after %v", took)
			}
			w.tellKept()
			if err := <-rejected; !errors.Is(err, want) {
				t.Errorf("visibility %v: reject: %v, want %v", visibility, err, want)
			}
			w.none(t)
			if w.committed[0].At != 0 {
				t.Fatalf("committed %v", w.committed[0])
			}
		})
	}
}

// The end of a delay is no expired lock in the history of a dead letter.
func TestADelayIsNoFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := testConfig()
		cfg.MaxDeliveries = 2
		w := running(t, cfg, 1)
		for range cfg.MaxDeliveries {
			l := w.receive(1)[0]
			l.Failed("not now", time.Now())
			must(t, w.Nack(ctx, l, time.Second))
			time.Sleep(2 * time.Second)
			synctest.Wait()
		}
		dead := w.deadLetters()
		if len(dead) != 1 {
			t.Fatalf("there are %d dead letters", len(dead))
		}
		attempts := strings.Split(header(dead[0], lease.HeaderAttempts), "\n")
		if len(attempts) != cfg.MaxDeliveries || strings.Contains(strings.Join(attempts, ""), "expired") {
			t.Errorf("the failed attempts are %q", attempts)
		}
	})
}
