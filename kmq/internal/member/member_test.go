package member

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kafka-bench/kmq/internal/engine"
	"kafka-bench/kmq/internal/lease"
)

const (
	topic    = "t"
	group    = "g"
	patience = time.Minute
)

// recorder is a handler that does the least, and writes down what it is asked.
type recorder struct {
	set      *lease.Set
	beginErr error

	mu        sync.Mutex
	diary     []string
	committed map[int32]Offset // as assigned
	next      map[int32]int64
	most      int // records of one Begin
	over      int // of those, beyond the room
	busy      bool
	metadata  string
}

func newRecorder(bound int) *recorder {
	return &recorder{set: lease.NewSet(bound, nil), committed: make(map[int32]Offset), next: make(map[int32]int64)}
}

func (r *recorder) write(format string, args ...any) {
	r.diary = append(r.diary, fmt.Sprintf(format, args...))
}

func (r *recorder) Assigned(_ context.Context, partition int32, committed Offset) (int64, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.committed[partition] = committed
	r.next[partition] = max(committed.At, 0)
	r.write("assigned %d", partition)
	return committed.At, nil
}

func (r *recorder) Begin(_ context.Context, records []*kgo.Record) ([]*lease.Lease, error) {
	r.mu.Lock()
	if r.beginErr != nil {
		defer r.mu.Unlock()
		return nil, r.beginErr
	}
	r.busy = true
	r.most, r.over = max(r.most, len(records)), max(r.over, len(records)-r.set.Room())
	partitions := make(map[int32]bool)
	for _, rec := range records {
		partitions[rec.Partition] = true
		r.next[rec.Partition] = rec.Offset + 1
	}
	r.write("begin %v", sorted(partitions))
	r.mu.Unlock()
	time.Sleep(time.Millisecond) // long enough for others to come in between
	r.mu.Lock()
	defer r.mu.Unlock()
	r.busy = false
	leases := lease.FromRecords(records)
	r.set.AddAll(leases, time.Time{})
	return leases, nil
}

func (r *recorder) Committable(partitions []int32) map[int32]Offset {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := make(map[int32]Offset)
	for p, next := range r.next {
		if partitions == nil || slices.Contains(partitions, p) {
			out[p] = Offset{At: next, Metadata: r.metadata}
		}
	}
	return out
}

func (r *recorder) Flush(_ context.Context, partitions []int32) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.busy {
		r.write("flush in the middle of begin")
	}
	r.write("flush %v", sorted(set(partitions)))
	return nil
}

func (r *recorder) Forget(partitions []int32) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.busy {
		r.write("forget in the middle of begin")
	}
	for _, p := range partitions {
		delete(r.next, p)
	}
	r.set.LoseAll(func(l *lease.Lease) bool { return slices.Contains(partitions, l.At.Partition) })
	r.write("forget %v", sorted(set(partitions)))
}

func set(partitions []int32) map[int32]bool {
	m := make(map[int32]bool)
	for _, p := range partitions {
		m[p] = true
	}
	return m
}

func (r *recorder) read() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.diary)
}

// place is a cluster with a topic, and what is asked of it.
type place struct {
	*testing.T
	cluster *kfake.Cluster
	client  *kgo.Client
}

func newPlace(t *testing.T) *place {
	c, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(4, topic), kfake.GroupMinSessionTimeout(time.Second),
		kfake.BrokerConfigs(map[string]string{"group.initial.rebalance.delay.ms": "0"}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	client, err := kgo.NewClient(kgo.SeedBrokers(c.ListenAddrs()...), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return &place{T: t, cluster: c, client: client}
}

func (p *place) config(r *recorder, bound int) Config {
	return Config{
		Config: engine.Config{
			Brokers: p.cluster.ListenAddrs(), Topic: topic, Group: group, MaxInFlight: bound,
			CommitEvery: 10 * time.Millisecond, SessionTimeout: 3 * time.Second, Log: slog.New(slog.DiscardHandler),
		},
		Handler: r, Set: r.set,
	}
}

func (p *place) open(r *recorder, bound int) *Member {
	p.Helper()
	m, err := Open(p.Context(), p.config(r, bound))
	if err != nil {
		p.Fatal(err)
	}
	p.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		_ = m.Close(ctx)
		r.set.Close()
	})
	return m
}

func (p *place) produce(n int) {
	p.Helper()
	records := make([]*kgo.Record, n)
	for i := range records {
		records[i] = &kgo.Record{Topic: topic, Partition: int32(i % 4)}
	}
	if err := p.client.ProduceSync(p.Context(), records...).FirstErr(); err != nil {
		p.Fatal(err)
	}
}

// take receives and settles n records.
func (p *place) take(m *Member, n int) {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.Context(), patience)
	defer cancel()
	for n > 0 {
		ls, err := m.Receive(ctx, n)
		if err != nil {
			p.Fatalf("receive: %v, with %d to come", err, n)
		}
		for _, l := range ls {
			_ = m.cfg.Set.Settle(l, lease.Accepted)
		}
		n -= len(ls)
	}
}

// until waits for a condition.
func (p *place) until(what string, is func() bool) {
	p.Helper()
	for end := time.Now().Add(patience); !is(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			p.Fatalf("%s: not within %v", what, patience)
		}
	}
}

func TestOffsetsAndTheirMetadataAreTheNextOwners(t *testing.T) {
	p := newPlace(t)
	p.produce(10)
	first := newRecorder(100)
	first.metadata = "what is done"
	m := p.open(first, 100)
	p.take(m, 10)
	if err := m.Commit(t.Context()); err != nil {
		t.Errorf("commit: %v", err)
	}
	if err := m.Close(t.Context()); err != nil {
		t.Errorf("close: %v", err)
	}
	if _, err := m.Receive(t.Context(), 1); !errors.Is(err, lease.ErrClosed) {
		t.Errorf("receive after close: %v", err)
	}
	for p, o := range first.committed {
		if (o != Offset{At: -1}) {
			t.Errorf("a new group has committed %+v of partition %d", o, p)
		}
	}

	second := newRecorder(100)
	m = p.open(second, 100)
	p.until("assignment", func() bool { return len(m.Owned()) == 4 })
	p.produce(4)
	p.take(m, 4)
	time.Sleep(50 * time.Millisecond)
	if n := second.set.Len() + int(m.delivered.Load()); n != 4 {
		t.Errorf("it reads %d records, of which 4 are not committed", n)
	}
	second.mu.Lock()
	defer second.mu.Unlock()
	want := map[int32]Offset{0: {3, "what is done"}, 1: {3, "what is done"}, 2: {2, "what is done"}, 3: {2, "what is done"}}
	if !maps.Equal(second.committed, want) {
		t.Errorf("it begins at %v, want %v", second.committed, want)
	}
}

// A partition that was never committed does not wait for a fetch of those that were, which
// waits for their next records.
func TestWhatIsReadFromItsStartIsInTheFirstFetch(t *testing.T) {
	p := newPlace(t)
	p.produce(4)
	var committed kadm.Offsets
	committed.Add(kadm.Offset{Topic: topic, Partition: 0, At: 1, LeaderEpoch: -1})
	if err := kadm.NewClient(p.client).CommitAllOffsets(t.Context(), group, committed); err != nil {
		t.Fatal(err)
	}
	r := newRecorder(50)
	first := make(chan int, 1) // partitions in the first fetch
	p.cluster.ControlKey(int16(kmsg.Fetch), func(req kmsg.Request) (kmsg.Response, error, bool) {
		for _, topic := range req.(*kmsg.FetchRequest).Topics {
			first <- len(topic.Partitions)
		}
		return nil, nil, false
	})
	// Whoever asks for both at a time fetches first.
	p.cluster.ControlKey(int16(kmsg.ListOffsets), func(kmsg.Request) (kmsg.Response, error, bool) {
		p.cluster.SleepControl(func() { time.Sleep(200 * time.Millisecond) })
		return nil, nil, false
	})
	p.take(p.open(r, 50), 3)
	if n := <-first; n != 4 {
		t.Errorf("%d partitions are in the first fetch, of 4", n)
	}
}

func TestRevocationIsInOrder(t *testing.T) {
	p := newPlace(t)
	first, second := newRecorder(50), newRecorder(50)
	var commits sync.Mutex
	seen := make(map[int32]int64) // what is committed, in the order of the broker
	p.cluster.ControlKey(int16(kmsg.OffsetCommit), func(req kmsg.Request) (kmsg.Response, error, bool) {
		p.cluster.KeepControl()
		commits.Lock()
		defer commits.Unlock()
		for _, topic := range req.(*kmsg.OffsetCommitRequest).Topics {
			for _, part := range topic.Partitions {
				if before := seen[part.Partition]; part.Offset < before {
					t.Errorf("partition %d is committed at %d after %d", part.Partition, part.Offset, before)
				}
				seen[part.Partition] = part.Offset
				first.mu.Lock()
				first.write("commit %d", part.Partition)
				first.mu.Unlock()
			}
		}
		return nil, nil, false
	})
	stop, work := make(chan struct{}), sync.WaitGroup{}
	defer work.Wait()
	defer close(stop)
	consume := func(m *Member) {
		work.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
				ls, _ := m.Receive(ctx, 5)
				cancel()
				for _, l := range ls {
					_ = m.cfg.Set.Settle(l, lease.Accepted)
				}
			}
		})
	}
	work.Go(func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(2 * time.Millisecond):
				p.client.Produce(context.Background(), &kgo.Record{Topic: topic, Partition: int32(time.Now().UnixNano() % 4)}, nil)
			}
		}
	})
	cfg := p.config(first, 50)
	cfg.CommitEvery = time.Minute // so that the commits are those of revocations
	m1, err := Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m1.Close(context.Background()); first.set.Close() })
	consume(m1)
	p.until("records", func() bool { return len(m1.Owned()) == 4 && first.set.Len() >= 0 && m1.delivered.Load() > 20 })
	m2 := p.open(second, 50)
	consume(m2)
	p.until("two partitions each", func() bool { return len(m1.Owned()) == 2 && len(m2.Owned()) == 2 })

	diary := first.read()
	flush := slices.IndexFunc(diary, func(s string) bool { return strings.HasPrefix(s, "flush") })
	forget := slices.IndexFunc(diary, func(s string) bool { return strings.HasPrefix(s, "forget") })
	if flush < 0 || forget < flush {
		t.Fatalf("it was asked: %q", diary)
	}
	revoked := strings.TrimPrefix(diary[flush], "flush ")
	if diary[forget] != "forget "+revoked {
		t.Errorf("flushed %s, then %s", revoked, diary[forget])
	}
	for _, s := range diary[flush+1 : forget] {
		if !strings.HasPrefix(s, "commit") {
			t.Errorf("between flush and forget: %q", s)
		}
	}
	if forget-flush != 3 {
		t.Errorf("of %s were committed: %q", revoked, diary[flush+1:forget])
	}
	for _, s := range diary {
		if strings.Contains(s, "in the middle") {
			t.Error(s)
		}
	}
	begun := slices.DeleteFunc(diary[forget+1:], func(s string) bool { return !strings.HasPrefix(s, "begin") })
	for _, s := range begun {
		for _, taken := range strings.Fields(strings.Trim(revoked, "[]")) {
			if strings.Contains(s, taken) {
				t.Errorf("after %s was taken away: %s", revoked, s)
			}
		}
	}
}

func TestNoMoreIsBegunThanThereIsRoomFor(t *testing.T) {
	p := newPlace(t)
	p.produce(1000)
	r := newRecorder(16)
	m := p.open(r, 16)
	p.until("a full set", func() bool { return r.set.Len() == 16 })
	time.Sleep(50 * time.Millisecond)
	if r.set.Len() != 16 {
		t.Errorf("%d in flight", r.set.Len())
	}
	p.take(m, 1000)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.most > 16 || r.over > 0 {
		t.Errorf("%d records were begun at once, %d more than there was room for", r.most, r.over)
	}
}

func TestTransientTroubleIsRetried(t *testing.T) {
	for _, trouble := range []struct {
		name  string
		fault kfake.Fault
	}{
		{"the coordinator moves", kfake.Fault{Keys: []kmsg.Key{kmsg.OffsetCommit}, Err: kerr.NotCoordinator, Count: 3}},
		{"the coordinator loads", kfake.Fault{Keys: []kmsg.Key{kmsg.OffsetCommit}, Err: kerr.CoordinatorLoadInProgress, Count: 3}},
		{"a commit is written and fails", kfake.Fault{Keys: []kmsg.Key{kmsg.OffsetCommit}, Err: kerr.RequestTimedOut, Count: 3}},
		{"one partition can't be committed", kfake.Fault{Keys: []kmsg.Key{kmsg.OffsetCommit}, Topic: topic, Partitions: []int32{0}, Err: kerr.OffsetMetadataTooLarge, Count: 20}},
		{"the leader moves", kfake.Fault{Keys: []kmsg.Key{kmsg.Fetch}, Topic: topic, Err: kerr.NotLeaderForPartition, Count: 3}},
	} {
		t.Run(trouble.name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			fault := p.cluster.Fault(trouble.fault)
			r := newRecorder(100)
			m := p.open(r, 100)
			p.produce(40)
			p.take(m, 40)
			p.until("commits in spite of it", func() bool {
				var c engine.Counts
				m.Counts(&c)
				return c.CommitBehind == 0 && len(m.Owned()) == 4
			})
			if fault.Hits() == 0 {
				t.Error("there was no trouble")
			}
			if err := m.Close(t.Context()); err != nil {
				t.Errorf("close: %v", err)
			}
			offsets, err := kadm.NewClient(p.client).FetchOffsets(t.Context(), group)
			if err != nil {
				t.Fatal(err)
			}
			for partition := range int32(4) {
				if o, _ := offsets.Lookup(topic, partition); o.At != 10 {
					t.Errorf("partition %d is committed at %d, want 10", partition, o.At)
				}
			}
		})
	}
}

func TestWhatNoWaitingMendsEndsTheMember(t *testing.T) {
	for _, end := range []struct {
		name  string
		fault kfake.Fault
		begin error
		want  error
	}{
		{"the group is forbidden", kfake.Fault{Keys: []kmsg.Key{kmsg.JoinGroup}, TopLevel: true, Err: kerr.GroupAuthorizationFailed, Count: -1}, nil, kerr.GroupAuthorizationFailed},
		{"the topic is forbidden", kfake.Fault{Keys: []kmsg.Key{kmsg.Fetch}, Topic: topic, Err: kerr.TopicAuthorizationFailed, Count: -1}, nil, kerr.TopicAuthorizationFailed},
		{"commits are forbidden", kfake.Fault{Keys: []kmsg.Key{kmsg.OffsetCommit}, Topic: topic, Err: kerr.TopicAuthorizationFailed, Count: -1}, nil, kerr.TopicAuthorizationFailed},
		{"the engine fails", kfake.Fault{}, errors.New("the engine fails"), nil},
	} {
		t.Run(end.name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			if end.begin == nil {
				p.cluster.Fault(end.fault)
			}
			r := newRecorder(100)
			r.beginErr = end.begin
			m := p.open(r, 100)
			p.produce(40)
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			for {
				_, err := m.Receive(ctx, 10)
				if err == nil {
					continue
				}
				if want := cmpErr(end.want, end.begin); !errors.Is(err, want) {
					t.Errorf("receive: %v, want %v", err, want)
				}
				return
			}
		})
	}
}

func cmpErr(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

func TestCloseEndsWhereTheClusterIsGone(t *testing.T) {
	p := newPlace(t)
	p.produce(40)
	r := newRecorder(100)
	cfg := p.config(r, 100)
	cfg.CommitEvery = time.Minute
	m, err := Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer r.set.Close()
	p.take(m, 40)
	p.cluster.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	start := time.Now()
	if err := m.Close(ctx); err == nil {
		t.Error("nobody says that the last offsets are not committed")
	}
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("it took %v", took)
	}
}

func TestPauseAndResume(t *testing.T) {
	p := newPlace(t)
	r := newRecorder(100)
	m := p.open(r, 100)
	p.until("assignment", func() bool { return len(m.Owned()) == 4 })
	m.Pause(1)
	var c engine.Counts
	if m.Counts(&c); !slices.Equal(c.Paused, []int32{1}) {
		t.Errorf("paused: %v", c.Paused)
	}
	time.Sleep(100 * time.Millisecond) // what was being fetched is
	r.mu.Lock()
	r.diary = nil
	r.mu.Unlock()
	p.produce(40)
	p.take(m, 30)
	for _, s := range r.read() {
		if strings.Contains(s, "1") {
			t.Errorf("partition 1 is paused: %s", s)
		}
	}
	m.Resume(1)
	p.take(m, 10)
	c = engine.Counts{}
	if m.Counts(&c); len(c.Paused) != 0 || c.Delivered != 40 {
		t.Errorf("%+v", c)
	}
}
