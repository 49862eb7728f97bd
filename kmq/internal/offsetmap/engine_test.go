package offsetmap

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"kafka-bench/kmq/internal/lease"
	"kafka-bench/kmq/internal/member"
)

var ctx = context.Background()

// one receives exactly one delivery and checks which.
func (w *world) one(t *testing.T, want string, attempt int) *lease.Lease {
	t.Helper()
	leases := w.receive(10)
	if len(leases) != 1 || key(leases[0]) != want || leases[0].Attempt != attempt {
		t.Fatalf("received %v, want %s for the %d. time", describe(leases), want, attempt)
	}
	return leases[0]
}

func (w *world) none(t *testing.T) {
	t.Helper()
	if leases := w.receive(10); len(leases) > 0 {
		t.Fatalf("received %v, want nothing", describe(leases))
	}
}

func describe(leases []*lease.Lease) (out []string) {
	for _, l := range leases {
		out = append(out, fmt.Sprintf("%s for the %d. time", key(l), l.Attempt))
	}
	return out
}

func header(r *kgo.Record, name string) string {
	for _, h := range r.Headers {
		if h.Key == name {
			return string(h.Value)
		}
	}
	return ""
}

// TestRedelivery follows one record that is always released: from its place, then from
// the tail, to the dead letters.
func TestRedelivery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := testConfig()
		cfg.MaxDeliveries = 5
		w := newWorld(cfg, 4096)
		w.run(t)
		w.append(&kgo.Record{Topic: testTopic, Key: []byte("0/0"), Headers: []kgo.RecordHeader{{Key: "mine", Value: []byte("x")}}})
		w.assign(0)
		w.poll()
		for attempt := 1; attempt <= 3; attempt++ {
			if err := w.Nack(ctx, w.one(t, "0/0", attempt), 0); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		w.none(t)
		w.commitAll()
		if got := w.committed[0]; got != (member.Offset{At: 1}) || len(w.logOf(0)) != 2 {
			t.Fatalf("committed %v with %d records in the log, want offset 1 and a copy at the tail", got, len(w.logOf(0)))
		}
		copied := w.logOf(0)[1]
		if header(copied, "mine") != "x" || header(copied, lease.HeaderDeliveries) != "3" {
			t.Fatalf("the copy has the headers %v", copied.Headers)
		}
		w.poll()
		for attempt := 4; attempt <= 5; attempt++ {
			l := w.one(t, "0/0", attempt)
			if l.Origin != (lease.ID{}) || l.At.Offset != 1 {
				t.Fatalf("at %v from %v", l.At, l.Origin)
			}
			// There is nothing to wait for before a dead letter.
			if err := w.Nack(ctx, l, time.Duration(attempt-4)*time.Hour); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		w.none(t)
		w.commitAll()
		if got := w.committed[0]; got != (member.Offset{At: 2}) || len(w.deadLetters()) != 1 || w.set.Len() != 0 {
			t.Fatalf("committed %v, %d dead letters, %d in flight", got, len(w.deadLetters()), w.set.Len())
		}
		d := w.deadLetters()[0]
		if header(d, lease.HeaderDeliveries) != "5" || header(d, lease.HeaderReason) != "delivered 5 times" {
			t.Fatalf("the dead letter has the headers %v", d.Headers)
		}
		if c := w.counted(); c.Nacked != 5 || c.Tailed != 1 || c.DeadLettered != 1 || c.Rejected != 0 {
			t.Fatalf("counted %+v", c)
		}
	})
}

// TestDeadlines has locks run out: never before their deadline, at once after it.
// Invariant 8.
func TestDeadlines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(testConfig(), 4096)
		w.run(t)
		w.produce(0, 1)
		w.assign(0)
		w.poll()
		time.Sleep(time.Hour) // what is ready waits without a deadline
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
		if w.set.Len() != 1 {
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
		if len(w.logOf(0)) != 1 {
			t.Fatal("copied to the tail before the deadline")
		}
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		if len(w.logOf(0)) != 2 || third.State() != lease.Expired {
			t.Fatalf("%d records in the log after the last deadline in place", len(w.logOf(0)))
		}
		if c := w.counted(); c.Expired != 2 || c.Nacked != 1 || c.Tailed != 1 || c.Lateness.Counts[0] != 3 {
			t.Fatalf("counted %+v", c)
		}
	})
}

// TestDelayBeforeTail has a delay pass before a record moves.
func TestDelayBeforeTail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := testConfig()
		cfg.InPlace = 1
		w := newWorld(cfg, 4096)
		w.run(t)
		w.produce(0, 1)
		w.assign(0)
		w.poll()
		if err := w.Nack(ctx, w.one(t, "0/0", 1), time.Minute); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute - time.Nanosecond)
		synctest.Wait()
		if len(w.logOf(0)) != 1 {
			t.Fatal("moved before its delay")
		}
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		w.poll()
		w.one(t, "0/0", 2)
	})
}

func TestReject(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(testConfig(), 4096)
		w.run(t)
		w.produce(0, 2)
		w.assign(0)
		w.poll()
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
		// One who does not wait for it: it is written all the same.
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
		w.cfg.DeadLetterTopic = ""
		if err := w.Reject(ctx, leases[1], ""); !errors.Is(err, lease.ErrUnsupported) {
			t.Fatalf("without a dead-letter topic: %v", err)
		}
	})
}

// TestRefusedCopies has copies fail: for a while, and for good.
func TestRefusedCopies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := testConfig()
		cfg.InPlace, cfg.MaxDeliveries = 1, 3
		w := newWorld(cfg, 4096)
		w.run(t)
		w.produce(0, 1)
		w.assign(0)
		w.poll()
		refusals := 0
		w.refusing(func(*kgo.Record) error {
			if refusals++; refusals <= 5 {
				return kerr.NotEnoughReplicas
			}
			return kerr.MessageTooLarge
		})
		if err := w.Nack(ctx, w.one(t, "0/0", 1), 0); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if refusals != 6 {
			t.Fatalf("refused %d times, want 5 times for a while and once for good", refusals)
		}
		// It can't be copied, so it stays where it is; then it can't be buried.
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
		if w.committed[0].At != 0 || w.set.Len() != 1 || refusals != 8 {
			t.Fatalf("committed %v with %d in flight after %d refusals", w.committed[0], w.set.Len(), refusals)
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
		// One that was rejected, and can't be, is told, and is delivered once more.
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

// TestRestore is another process after a crash: what was committed as done is not
// delivered again, the rest is, with the deliveries that it had.
func TestRestore(t *testing.T) {
	cfg := testConfig()
	w := filled(cfg, 4096, 6)
	defer w.halt()
	leases := w.receive(4)
	must(t, w.Ack(ctx, leases[1]))
	must(t, w.Ack(ctx, leases[2]))
	must(t, w.Nack(ctx, leases[3], 0))
	w.receive(1) // 3 again
	w.commitAll()
	if w.committed[0].At != 0 {
		t.Fatalf("committed %v", w.committed[0])
	}
	must(t, w.Ack(ctx, leases[0])) // lost with the process

	w.halt()
	w.open(cfg, 4096)
	w.assign(0)
	w.poll()
	want := []string{"0/0 for the 2. time", "0/3 for the 3. time", "0/4 for the 1. time", "0/5 for the 1. time"}
	if got := describe(w.receive(10)); !slices.Equal(got, want) {
		t.Fatalf("received %v, want %v", got, want)
	}

	// A poison record: it took the process with it so often that it is not handed out.
	w.commitAll()
	w.halt()
	cfg.MaxDeliveries = 3
	w.open(cfg, 4096)
	w.assign(0)
	w.commitAll() // nothing is taken yet, and nothing forgotten
	w.halt()
	w.open(cfg, 4096)
	w.assign(0)
	w.poll()
	w.moveBatch(ctx)
	want = []string{"0/0 for the 3. time", "0/4 for the 2. time", "0/5 for the 2. time"}
	if got := describe(w.receive(10)); !slices.Equal(got, want) {
		t.Fatalf("received %v, want %v", got, want)
	}
	if len(w.deadLetters()) != 1 || header(w.deadLetters()[0], lease.HeaderDeliveries) != "3" {
		t.Fatalf("dead letters %v", w.deadLetters())
	}

	// What was delivered and is not in the log any more is missing; what was not there
	// or was done is not.
	w.commitAll()
	w.halt()
	w.open(cfg, 4096)
	w.logs[0] = w.logs[0][5:]
	w.assign(0)
	w.poll()
	if w.counted().Missing != 2 {
		t.Fatalf("%d missing, want 0/0 and 0/4", w.counted().Missing)
	}
	w.one(t, "0/5", 3)
	w.commitAll()
	if w.committed[0].At != 5 {
		t.Fatalf("committed %v", w.committed[0])
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestCorrupt begins at the committed offset where the map can't be read, or is that of
// another offset, and says so.
func TestCorrupt(t *testing.T) {
	w := filled(testConfig(), 4096, 5)
	defer w.halt()
	leases := w.receive(5)
	for _, l := range leases[2:] {
		must(t, w.Ack(ctx, l))
	}
	w.commitAll()
	good := w.committed[0]
	for name, committed := range map[string]member.Offset{
		"damaged": {At: good.At, Metadata: good.Metadata[1:]},
		"moved":   {At: good.At + 1, Metadata: good.Metadata},
		"foreign": {At: good.At, Metadata: "by hand"},
	} {
		w.halt()
		w.log.Reset()
		w.open(w.cfg, 4096)
		w.committed[0] = committed
		w.assign(0)
		w.poll()
		if got, want := len(w.receive(10)), int(5-committed.At); got != want {
			t.Errorf("%s: %d records are delivered, want %d", name, got, want)
		}
		if !strings.Contains(w.log.String(), "level=WARN") || !strings.Contains(w.log.String(), "partition=0") {
			t.Errorf("%s: logged %q", name, w.log.String())
		}
	}
}

// TestHeldBack has a partition pause before its map could be too long, and go on in the
// order of its offsets. Invariant 7, and: the map is never dropped.
func TestHeldBack(t *testing.T) {
	cfg := testConfig()
	const limit = 20
	w := filled(cfg, limit, 500)
	defer w.halt()
	if !w.paused[0] || w.set.Len() != cfg.MaxInFlight || w.set.Room() != 0 {
		t.Fatalf("paused %v with %d in flight", w.paused, w.set.Len())
	}
	taken := w.partitions[0].window.Open()
	if taken < 10 || taken == cfg.MaxInFlight || len(w.ready) != taken {
		t.Fatalf("%d taken, %d ready", taken, len(w.ready))
	}
	// The worst that can be done: every other one.
	leases := w.receive(cfg.MaxInFlight)
	for i := 1; i < len(leases); i += 2 {
		must(t, w.Ack(ctx, leases[i]))
		w.commitAll() // panics beyond the limit
	}
	if w.committed[0].Metadata == "" {
		t.Fatal("the map was dropped")
	}
	for i := 0; i < len(leases); i += 2 {
		must(t, w.Ack(ctx, leases[i]))
	}
	next := int64(len(leases))
	for next < 500 {
		if len(w.ready) == 0 && w.poll() == 0 && len(w.ready) == 0 {
			t.Fatalf("stuck at %d: paused %v, %d held, %d open", next, w.paused, len(w.partitions[0].held), w.partitions[0].window.Open())
		}
		for _, l := range w.receive(3) {
			if l.At.Offset != next {
				t.Fatalf("offset %d came after %d", l.At.Offset, next-1)
			}
			next++
			must(t, w.Ack(ctx, l))
		}
	}
	w.commitAll()
	if w.committed[0] != (member.Offset{At: 500}) || len(w.paused) != 0 || w.set.Len() != 0 {
		t.Fatalf("committed %v, paused %v, %d in flight", w.committed[0], w.paused, w.set.Len())
	}
}

// TestStuck has one record that is never finished: the partition goes on behind it, and
// neither the map nor the memory grows. Invariant 7.
func TestStuck(t *testing.T) {
	const limit = 40
	w := newWorld(testConfig(), limit)
	defer w.halt()
	w.assign(0)
	w.produce(0, 1)
	w.poll()
	stuck := w.receive(1)
	for range 1000 {
		w.produce(0, 3)
		w.poll()
		for _, l := range w.receive(3) {
			must(t, w.Ack(ctx, l))
		}
		w.commitAll()
	}
	if p := w.partitions[0]; len(p.runs) > 3 || cap(p.runs) > 64 || w.set.Len() != 1 || p.window.Next() != 3001 {
		t.Fatalf("%d runs with room for %d, %d in flight, next is %d", len(p.runs), cap(p.runs), w.set.Len(), p.window.Next())
	}
	must(t, w.Ack(ctx, stuck[0]))
	w.commitAll()
	if w.committed[0] != (member.Offset{At: 3001}) {
		t.Fatalf("committed %v", w.committed[0])
	}
}

// TestLimitLowered has a map that was written when the limit was higher: it is kept as it
// is in the cluster until it fits, and the partition goes on meanwhile.
func TestLimitLowered(t *testing.T) {
	cfg := testConfig()
	w := filled(cfg, 4096, 100)
	defer w.halt()
	for i, l := range w.receive(100) {
		if i%3 == 0 {
			must(t, w.Ack(ctx, l))
		}
	}
	w.commitAll()
	was := w.committed[0]
	w.halt()
	w.lowered = true
	w.open(w.cfg, len(was.Metadata)/2)
	w.assign(0)
	w.poll()
	w.commitAll()
	if w.committed[0] != was || !strings.Contains(w.log.String(), limitKey) {
		t.Fatalf("committed %v, was %v; logged %q", w.committed[0], was, w.log.String())
	}
	got := 0
	for range 200 {
		for _, l := range w.receive(10) {
			must(t, w.Ack(ctx, l))
			got++
		}
		w.commitAll()
		w.poll()
	}
	if got != 66 || w.committed[0] != (member.Offset{At: 100}) || w.set.Len() != 0 {
		t.Fatalf("%d records delivered, committed %v, %d in flight", got, w.committed[0], w.set.Len())
	}
}

// TestRevoked has what is acknowledged beside a revocation be either in the last commit
// or told that the record is lost: nothing in between. Invariant 5.
func TestRevoked(t *testing.T) {
	for range 50 {
		cfg := testConfig()
		cfg.MaxInFlight = 2000
		w := newWorld(cfg, 4096)
		w.produce(0, 1000)
		w.produce(1, 1000)
		w.assign(0, 1)
		w.poll()
		leases := w.receive(2000)
		acked := make([]atomic.Bool, 1000)
		var others atomic.Int64
		var working sync.WaitGroup
		for i := range 4 {
			working.Go(func() {
				for _, l := range leases[i*500 : (i+1)*500] {
					err := w.Ack(ctx, l)
					switch {
					case l.At.Partition == 1 && err != nil:
						t.Errorf("a record of a partition that stays: %v", err)
					case l.At.Partition == 1:
						others.Add(1)
					case err == nil:
						acked[l.At.Offset].Store(true)
					case !errors.Is(err, lease.ErrLost):
						t.Errorf("ack: %v", err)
					}
				}
			})
		}
		w.revoke(0)
		working.Wait()
		w.h.coding.Lock()
		p, err := restore(0, w.committed[0], &w.coder)
		w.h.coding.Unlock()
		if err != nil {
			t.Fatal(err)
		}
		lost := 0
		for i := range acked {
			if !acked[i].Load() {
				lost++
			}
			if w.committed[0].At >= 0 && acked[i].Load() != p.window.IsDone(int64(i)) {
				t.Fatalf("record %d: acknowledged %t, in the last commit %t", i, acked[i].Load(), p.window.IsDone(int64(i)))
			}
		}
		if others.Load() != 1000 || w.counted().Lost != int64(lost) || w.set.Len() != 0 {
			t.Fatalf("%d of the partition that stays, %d lost and %d counted, %d in flight", others.Load(), lost, w.counted().Lost, w.set.Len())
		}
		w.halt()
	}
}

// TestAssignedAgain has a partition begin anew where the group gave it back without a
// word.
func TestAssignedAgain(t *testing.T) {
	w := filled(testConfig(), 4096, 2)
	defer w.halt()
	first := w.receive(2)
	must(t, w.Ack(ctx, first[0]))
	w.assign(0)
	w.poll()
	if err := w.Ack(ctx, first[1]); !errors.Is(err, lease.ErrLost) {
		t.Fatalf("ack: %v", err)
	}
	if again := w.receive(2); len(again) != 2 || w.set.Len() != 2 {
		t.Fatalf("received %v, %d in flight", describe(again), w.set.Len())
	}
}

// TestRevokedWhileCopied has a revocation wait for copies that are being written, so that
// what was copied is done.
func TestRevokedWhileCopied(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := testConfig()
		cfg.InPlace = 1
		w := newWorld(cfg, 4096)
		w.run(t)
		w.produce(0, 2)
		w.assign(0)
		w.poll()
		w.keeping(true)
		leases := w.receive(2)
		must(t, w.Nack(ctx, leases[0], 0))
		synctest.Wait()
		go func() {
			time.Sleep(time.Second)
			w.tellKept()
		}()
		w.revoke(0)
		if w.committed[0].At != 1 || len(w.logOf(0)) != 3 {
			t.Fatalf("committed %v with %d records in the log", w.committed[0], len(w.logOf(0)))
		}
		// One that takes too long is not waited for: it is delivered once more.
		w.assign(0)
		w.poll()
		must(t, w.Nack(ctx, w.receive(1)[0], 0))
		synctest.Wait()
		soon, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		if err := w.h.Flush(soon, []int32{0}); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("flush: %v", err)
		}
		w.commitAll(0)
		w.h.Forget([]int32{0})
		if w.committed[0].At != 1 || w.set.Len() != 0 {
			t.Fatalf("committed %v, %d in flight", w.committed[0], w.set.Len())
		}
		w.tellKept()
		// One that fails after it was taken away is not tried again.
		w.assign(0)
		w.poll()
		refusals := 0
		w.refusing(func(*kgo.Record) error { refusals++; return kerr.NotEnoughReplicas })
		must(t, w.Nack(ctx, w.receive(1)[0], 0))
		synctest.Wait()
		w.h.Forget([]int32{0})
		w.tellKept()
		time.Sleep(time.Minute)
		if refusals != 1 || w.set.Len() != 0 {
			t.Fatalf("tried %d times, %d in flight", refusals, w.set.Len())
		}
	})
}
