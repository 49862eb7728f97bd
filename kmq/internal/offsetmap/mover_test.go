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

// Invariant 8.
func TestDeadlines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := running(t, testConfig(), 1)
		time.Sleep(time.Hour) // ready records have no deadline
		first := w.one(t, "0/0", 1)
		time.Sleep(8 * time.Second)
		if err := w.Extend(ctx, first, 9*time.Second); err != nil {
			t.Fatal(err)
		}
		time.Sleep(9*time.Second - time.Nanosecond)
		synctest.Wait()
		w.none(t)
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		second := w.one(t, "0/0", 2)
		if err := w.Ack(ctx, first); !errors.Is(err, lease.ErrExpired) {
			t.Fatalf("ack after the deadline: %v", err)
		}
		if err := w.Nack(ctx, second, 3*time.Second); err != nil {
			t.Fatal(err)
		}
		if w.set.Len() != 0 || w.set.Excused() != 1 {
			t.Fatalf("%d in flight while one waits", w.set.Len())
		}
		time.Sleep(3*time.Second - time.Nanosecond)
		synctest.Wait()
		w.none(t)
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		third := w.one(t, "0/0", 3)
		time.Sleep(10*time.Second - time.Nanosecond)
		synctest.Wait()
		w.none(t)
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		w.one(t, "0/0", 4)
		if len(w.logOf(0)) != 1 || third.State() != lease.Expired {
			t.Fatalf("%d records in the log", len(w.logOf(0)))
		}
		if c := w.counted(); c.Expired != 2 || c.Nacked != 1 || c.Tailed != 0 || c.Lateness.Counts[0] != 3 {
			t.Fatalf("counted %+v", c)
		}
	})
}

// A record with a delay above InPlace is in the retry topic at once, and is delivered from there when it is due, also by
// another process. Nothing is appended to the topic itself.
func TestALongDelayMovesTheRecord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := testConfig()
		w := running(t, cfg, 1)
		w.assign(lease.Retry(0))
		failed := w.one(t, "0/0", 1)
		failed.Failed("no route", time.Now())
		must(t, w.Nack(ctx, failed, time.Hour))
		synctest.Wait()
		w.commitAll()
		retries := w.logOf(lease.Retry(0))
		if len(w.logOf(0)) != 1 || len(retries) != 1 || w.committed[0].At != 1 || w.counted().Tailed != 1 {
			t.Fatalf("%d records and %d retries, committed %v", len(w.logOf(0)), len(retries), w.committed[0])
		}
		if got := header(retries[0], lease.HeaderError); got != "no route" {
			t.Errorf("the copy's last error is %q", got)
		}
		w.poll()
		time.Sleep(30 * time.Minute)
		w.commitAll()
		w.halt()
		w.open(cfg, 4096)
		w.run(t)
		w.assign(0, lease.Retry(0))
		w.poll()
		time.Sleep(30*time.Minute - time.Second)
		synctest.Wait()
		w.none(t)
		if w.set.Len() != 0 || w.set.Excused() != 1 {
			t.Errorf("%d in flight, %d wait", w.set.Len(), w.set.Excused())
		}
		time.Sleep(time.Second + time.Millisecond)
		synctest.Wait()
		l := w.one(t, "0/0", 2)
		if l.Record.Topic != testTopic || l.Record.Partition != 0 || l.Record.Offset != 0 || len(l.Record.Headers) != 0 {
			t.Errorf("the application gets %+v", l.Record)
		}
		must(t, w.Ack(ctx, l))
		w.commitAll()
		if got := w.committed[lease.Retry(0)]; got.At != 1 {
			t.Errorf("committed %v of the retries", got)
		}
	})
}

func TestReject(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := running(t, testConfig(), 2)
		leases := w.receive(2)
		w.keeping(true)
		rejected := make(chan error, 1)
		go func() { rejected <- w.Reject(ctx, leases[0], "no such account") }()
		synctest.Wait()
		w.commitAll()
		if len(rejected) != 0 || w.committed[0].At != 0 {
			t.Fatalf("done before the copy is durable: committed %v", w.committed[0])
		}
		w.tellKept()
		if err := <-rejected; err != nil {
			t.Fatal(err)
		}
		w.commitAll()
		if w.committed[0].At != 1 || header(w.deadLetters()[0], lease.HeaderReason) != "no such account" {
			t.Fatalf("committed %v, dead letter %v", w.committed[0], w.deadLetters()[0].Headers)
		}
		soon, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		if err := w.Reject(soon, leases[1], ""); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("reject: %v", err)
		}
		w.tellKept()
		w.commitAll()
		if w.committed[0].At != 2 || w.counted().Rejected != 2 || w.counted().DeadLettered != 2 {
			t.Fatalf("committed %v, counted %+v", w.committed[0], w.counted())
		}
		if err := w.Reject(ctx, leases[1], ""); !errors.Is(err, lease.ErrSettled) {
			t.Fatalf("rejected twice: %v", err)
		}
	})
}

func TestRefusedCopies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := testConfig()
		cfg.InPlace, cfg.MaxDeliveries = 1, 3
		w := running(t, cfg, 1)
		w.assign(lease.Retry(0))
		refusals := 0
		w.refusing(func(*kgo.Record) error {
			if refusals++; refusals <= 5 {
				return kerr.NotEnoughReplicas
			}
			return kerr.MessageTooLarge
		})
		if err := w.Nack(ctx, w.one(t, "0/0", 1), time.Second); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if refusals != 6 {
			t.Fatalf("refused %d times, want 5 times for a while and once for good", refusals)
		}
		// The record cannot be copied, so it stays, and it cannot become a dead letter.
		if err := w.Nack(ctx, w.one(t, "0/0", 2), 0); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if err := w.Nack(ctx, w.one(t, "0/0", 3), 0); err != nil {
			t.Fatal(err)
		}
		time.Sleep(cfg.Visibility - time.Nanosecond)
		synctest.Wait()
		w.none(t)
		w.commitAll()
		if w.committed[0].At != 0 || w.set.Excused() != 1 || refusals != 7 {
			t.Fatalf("committed %v while %d wait after %d refusals", w.committed[0], w.set.Excused(), refusals)
		}
		w.refusing(nil)
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		w.commitAll()
		if w.committed[0].At != 1 || len(w.deadLetters()) != 1 || header(w.deadLetters()[0], lease.HeaderDeliveries) != "3" {
			t.Fatalf("committed %v, dead letters %v", w.committed[0], w.deadLetters())
		}
		if n := strings.Count(w.log.String(), "trying again"); n < 2 || n > 3 {
			t.Errorf("complained %d times in a minute and ten seconds:\n%s", n, w.log.String())
		}
		w.produce(0, 1)
		w.poll()
		w.refusing(func(*kgo.Record) error { return kerr.TopicAuthorizationFailed })
		err := w.Reject(ctx, w.one(t, "0/1", 1), "")
		if !errors.Is(err, kerr.TopicAuthorizationFailed) {
			t.Fatalf("reject: %v", err)
		}
		w.refusing(nil)
		time.Sleep(cfg.Visibility)
		synctest.Wait()
		w.poll()
		w.one(t, "0/1", 2)
	})
}
