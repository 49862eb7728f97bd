package offsetmap

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/kmq/internal/engine"
	"kafkabench.example/kafka-bench/kmq/internal/lease"
	"kafkabench.example/kafka-bench/kmq/internal/member"
)

type world struct {
	*Engine
	h    handler
	logs map[int32][]*kgo.Record
	dead []*kgo.Record
	log  bytes.Buffer

	writing sync.Mutex // guards logs, dead, and the fields for copies

	ready     []*lease.Lease
	paused    map[int32]bool
	read      map[int32]int64
	committed map[int32]member.Offset

	gap     int64 // offsets without a record, before each record
	lowered bool  // a map need not fit

	refuse func(*kgo.Record) error
	keep   bool
	kept   []func()

	allowLarge bool
}

const (
	testTopic  = "queue"
	retryTopic = "queue.group.retry"
)

var ctx = context.Background()

func testConfig() engine.Config {
	return engine.Config{
		Topic: testTopic, Group: "group", DeadLetterTopic: "dead",
		Visibility: 10 * time.Second, MaxInFlight: 100, CommitEvery: time.Second,
		RetryTopic: retryTopic, InPlace: time.Minute, RetryBytes: 1 << 20, Delay: func(int) time.Duration { return 0 },
		Log: slog.New(slog.DiscardHandler),
	}
}

func newWorld(cfg engine.Config, limit int) *world {
	w := &world{logs: map[int32][]*kgo.Record{}, committed: map[int32]member.Offset{}}
	cfg.Log = slog.New(slog.NewTextHandler(&w.log, nil))
	w.open(cfg, limit)
	return w
}

func filled(cfg engine.Config, limit, records int) *world {
	w := newWorld(cfg, limit)
	w.produce(0, records)
	w.assign(0)
	w.poll()
	return w
}

func running(t *testing.T, cfg engine.Config, records int) *world {
	w := newWorld(cfg, 4096)
	w.run(t)
	w.produce(0, records)
	w.assign(0)
	w.poll()
	return w
}

func (w *world) open(cfg engine.Config, limit int) {
	w.Engine = newEngine(cfg, limit, engine.Topics{DeadLetterPartitions: 1, RetryPartitions: 2})
	w.reread = w.readLog
	w.h = handler{w.Engine}
	w.ready, w.paused, w.read = nil, map[int32]bool{}, map[int32]int64{}
	w.out, w.producer, w.copier, w.stop = w, w, w, func() {}
	close(w.started)
}

func (w *world) run(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	w.stop = stop
	w.running.Go(func() { w.moveRecords(ctx) })
	w.running.Go(func() { w.moveLarge(ctx) })
	w.running.Go(func() { w.readRecords(ctx) })
	t.Cleanup(w.halt)
}

func (w *world) Push(leases ...*lease.Lease) {
	w.ready = append(leases[:len(leases):len(leases)], w.ready...)
}
func (w *world) Append(leases ...*lease.Lease) { w.ready = append(w.ready, leases...) }
func (w *world) Pause(partition int32)         { w.paused[partition] = true }
func (w *world) Resume(partition int32)        { delete(w.paused, partition) }

func (w *world) Produce(_ context.Context, r *kgo.Record, promise func(*kgo.Record, error)) {
	err, keep := w.write(r, promise)
	if !keep {
		promise(r, err)
	}
}

func (w *world) Write(_ context.Context, records ...*kgo.Record) []error {
	w.writing.Lock()
	defer w.writing.Unlock()
	errs := make([]error, len(records))
	for i, r := range records {
		if w.allowLarge {
			w.put(r)
		} else {
			errs[i] = kerr.MessageTooLarge
		}
	}
	return errs
}

func (w *world) write(r *kgo.Record, promise func(*kgo.Record, error)) (err error, keep bool) {
	w.writing.Lock()
	defer w.writing.Unlock()
	if w.refuse != nil {
		err = w.refuse(r)
	}
	if err == nil {
		w.put(r)
	}
	if w.keep {
		w.kept = append(w.kept, func() { promise(r, err) })
	}
	return err, w.keep
}

func (w *world) refusing(f func(*kgo.Record) error) {
	w.writing.Lock()
	defer w.writing.Unlock()
	w.refuse = f
}

// keeping delays the results of copies until tellKept.
func (w *world) keeping(keep bool) {
	w.writing.Lock()
	defer w.writing.Unlock()
	w.keep = keep
}

func (w *world) tellKept() {
	w.writing.Lock()
	kept := w.kept
	w.kept = nil
	w.writing.Unlock()
	for _, tell := range kept {
		tell()
	}
}

func (w *world) logOf(partition int32) []*kgo.Record {
	w.writing.Lock()
	defer w.writing.Unlock()
	return w.logs[partition]
}

func (w *world) deadLetters() []*kgo.Record {
	w.writing.Lock()
	defer w.writing.Unlock()
	return w.dead
}

func (w *world) counted() engine.Counts {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.counts
}

func (w *world) append(r *kgo.Record) {
	w.writing.Lock()
	defer w.writing.Unlock()
	w.put(r)
}

func (w *world) put(r *kgo.Record) {
	c := *r
	switch r.Topic {
	case testTopic:
	case retryTopic:
		c.Partition = lease.Retry(r.Partition)
	default:
		w.dead = append(w.dead, r)
		return
	}
	c.Offset = 0
	if log := w.logs[c.Partition]; len(log) > 0 {
		c.Offset = log[len(log)-1].Offset + 1 + w.gap
	}
	w.logs[c.Partition] = append(w.logs[c.Partition], &c)
}

func (w *world) readLog(_ context.Context, partition int32, offsets []int64) (found []*kgo.Record, err error) {
	w.writing.Lock()
	defer w.writing.Unlock()
	for _, offset := range offsets {
		i := slices.IndexFunc(w.logs[partition], func(r *kgo.Record) bool { return r.Offset == offset })
		if i < 0 {
			found = append(found, nil)
			continue
		}
		c := *w.logs[partition][i]
		found = append(found, &c)
	}
	return found, nil
}

func (w *world) produce(partition int32, n int) {
	for range n {
		key := fmt.Sprintf("%d/%d", partition, len(w.logs[partition]))
		w.append(&kgo.Record{Topic: testTopic, Partition: partition, Key: []byte(key)})
	}
}

func (w *world) assign(partitions ...int32) {
	for _, p := range partitions {
		committed, ok := w.committed[p]
		if !ok {
			committed.At = -1
		}
		from, err := w.h.Assigned(context.Background(), p, committed)
		if err != nil {
			panic(err)
		}
		w.read[p] = from
	}
}

func (w *world) poll() int {
	var records []*kgo.Record
	w.writing.Lock()
	defer w.writing.Unlock()
	w.mu.Lock()
	paused := maps.Clone(w.paused)
	w.mu.Unlock()
	for _, p := range slices.Sorted(maps.Keys(w.read)) {
		from := w.read[p]
		if paused[p] {
			continue
		}
		if log := w.logs[p]; len(log) > 0 && from >= 0 && log[0].Offset > from {
			w.h.Deleted(p, from, log[0].Offset)
		}
		if of, log := w.partitions[p], w.logs[p]; of.begun && len(log) > 0 && max(from, log[0].Offset) < of.read {
			w.h.Cut(p, max(from, log[0].Offset))
		}
		for _, r := range w.logs[p] {
			if r.Offset >= from && len(records) < w.set.Room() {
				c := *r
				records = append(records, &c)
				w.read[p] = r.Offset + 1
			}
		}
	}
	if _, err := w.h.Begin(context.Background(), records); err != nil {
		panic(err)
	}
	return len(records)
}

func (w *world) receive(max int) []*lease.Lease {
	for {
		w.mu.Lock()
		n := min(max, len(w.ready))
		leases := append([]*lease.Lease(nil), w.ready[:n]...)
		w.ready = w.ready[n:]
		w.mu.Unlock()
		leases = w.set.Lend(leases, time.Now().Add(w.cfg.Visibility))
		if len(leases) > 0 || n == 0 {
			return leases
		}
	}
}

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

func (w *world) commitAll(partitions ...int32) {
	for p, offset := range w.h.Committable(partitions) {
		if len(offset.Metadata) > w.limit {
			panic(fmt.Sprintf("metadata of %d characters, the limit is %d", len(offset.Metadata), w.limit))
		}
		w.committed[p] = offset
	}
	if !w.lowered && strings.Contains(w.log.String(), errTooLong.Error()) {
		panic("a map does not fit")
	}
}

func (w *world) revoke(partitions ...int32) {
	_ = w.h.Flush(context.Background(), partitions)
	w.commitAll(partitions...)
	w.h.Forget(partitions)
	for _, p := range partitions {
		delete(w.read, p)
		delete(w.paused, p)
	}
}

// settled reports whether a commit is at an offset, and says nothing of what is beyond.
func settled(commit member.Offset, at int64) bool {
	var c coder
	p, err := c.decode(commit.At, commit.Metadata)
	return err == nil && commit.At == at && len(p.done)+len(p.delivered) == 0
}

func key(l *lease.Lease) string { return string(l.Record.Key) }

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

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
