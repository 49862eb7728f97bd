package crash

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"kafka-bench/kmq"
)

// world is one queue under test: its topics, who produces into them, the journal of its
// processes, and what is read back.
type world struct {
	t       testing.TB
	spec    queueSpec
	book    *book
	client  *kgo.Client // produces, and asks for offsets
	admin   *kadm.Client
	queue   *follower // the topic itself
	dead    *follower // the dead-letter topic; nil without one
	markers *follower // nil without
	probes  probeState

	produced atomic.Int64 // records 0 … produced-1 are in the topic
	serial   atomic.Int64
	seed     uint64
	broken   int // processes that were killed or stopped with what they had taken
}

// way is how a queue is kept in a test: an engine and what changes its failures.
type way struct {
	name         string
	engine       kmq.Engine
	external     bool // the tracker is a process of its own
	transactions bool
}

const partitions = 4

// newWorld makes the topics of a queue with a name of its own.
func newWorld(t testing.TB, brokers []string, replication int16, w way) *world {
	t.Helper()
	return newWorldOf(t, brokers, replication, w, partitions, nil)
}

func newWorldOf(t testing.TB, brokers []string, replication int16, w way, partitions int32, change func(*queueSpec)) *world {
	t.Helper()
	name := strings.ReplaceAll(w.name, " ", "-") + fmt.Sprintf("-%d", time.Now().UnixNano()%1e9)
	spec := queueSpec{
		Brokers: brokers, Topic: name, Group: "g-" + name, Engine: w.engine, Partitions: partitions,
		Born: time.Now().Add(-time.Hour).Truncate(time.Second), DeadLetters: name + "-dead",
		MaxInFlight: 60, Transactions: w.transactions, Session: time.Second, Heartbeat: 100 * time.Millisecond,
	}
	if w.engine != kmq.Plain {
		spec.Visibility, spec.MaxDeliveries = 1500*time.Millisecond, 4
	}
	if w.external {
		spec.Tracker = kmq.External
	}
	if change != nil {
		change(&spec)
	}
	client, err := kgo.NewClient(
		kgo.SeedBrokers(brokers...), kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.DisableClientMetrics(),
		kgo.MetadataMinAge(50*time.Millisecond),
	)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	v := &world{t: t, spec: spec, client: client, admin: kadm.NewClient(client), seed: *killsSeed}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	v.create(ctx, replication, spec.Topic, spec.DeadLetters)
	if v.book, err = openBook(filepath.Join(t.TempDir(), "journal")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { v.book.file.Close() })
	v.queue = v.follow(spec.Topic)
	v.dead = v.follow(spec.DeadLetters)
	return v
}

// create makes topics that are kept whole, with as many replicas and one of them to spare.
func (v *world) create(ctx context.Context, replication int16, topics ...string) {
	v.t.Helper()
	kept := func(s string) *string { return &s }
	for _, topic := range topics {
		configs := map[string]*string{"retention.ms": kept("-1"), "min.insync.replicas": kept(fmt.Sprint(max(1, replication-1)))}
		if topic == v.spec.Topic {
			for key, value := range v.spec.TopicConfigs {
				configs[key] = kept(value)
			}
		}
		if _, err := v.admin.CreateTopic(ctx, v.spec.Partitions, replication, configs, topic); err != nil {
			v.t.Fatal(err)
		}
		for {
			listed, err := v.admin.ListEndOffsets(ctx, topic)
			if err == nil && listed.Error() == nil && len(listed[topic]) == int(v.spec.Partitions) {
				break
			}
			if ctx.Err() != nil {
				v.t.Fatalf("topic %s: %v %v", topic, err, listed.Error())
			}
			time.Sleep(50 * time.Millisecond)
		}
	}
}

// child describes the next process of the queue.
func (v *world) child(slot string) childSpec {
	return childSpec{
		Name: fmt.Sprintf("%s%d", slot, v.serial.Add(1)), Journal: v.book.path, Role: roleQueue, Queue: v.spec,
		Workers: 4, Batch: 5, Seed: v.seed, Work: time.Millisecond, Verbose: *verbose,
	}
}

// produce appends so many records and waits until they are written.
func (v *world) produce(ctx context.Context, n int) error {
	from := int(v.produced.Load())
	var records []*kgo.Record
	for i := range n {
		records = append(records, numbered(v.spec.Topic, v.spec.Partitions, v.spec.Born, from+i))
	}
	if err := v.client.ProduceSync(ctx, records...).FirstErr(); err != nil {
		return fmt.Errorf("produce: %w", err)
	}
	v.produced.Add(int64(n))
	return nil
}

// feed produces in the background so that there always is work and never too much of it,
// until the returned function is called.
func (v *world) feed(ahead int) (stop func() error) {
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	var failed error
	wg.Go(func() {
		for ctx.Err() == nil {
			if failed = v.book.read(); failed != nil {
				return
			}
			if open := int(v.produced.Load()) - v.book.done(); open < ahead {
				if failed = v.produce(context.WithoutCancel(ctx), 20); failed != nil {
					return
				}
				continue
			}
			time.Sleep(5 * time.Millisecond)
		}
	})
	return sync.OnceValue(func() error {
		cancel()
		wg.Wait()
		return failed
	})
}

// done is how many records are processed or rejected, or were delivered so often that
// their application has given up on them.
func (b *book) done() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := 0
	for number, f := range b.fates {
		if f.processed+f.rejected > 0 || poison(number) && len(f.deliveries) > 1 {
			n++
		}
	}
	return n
}

// follower reads a topic from its beginning, as far as it is asked to.
type follower struct {
	topic   string
	admin   *kadm.Client
	client  *kgo.Client
	tx      bool
	records map[int32][]*kgo.Record // in the order of their offsets; offsets may be missing
	next    map[int32]int64
}

func (v *world) follow(topic string) *follower {
	v.t.Helper()
	at := make(map[int32]kgo.Offset)
	for p := range v.spec.Partitions {
		at[p] = kgo.NewOffset().At(0)
	}
	opts := []kgo.Opt{
		kgo.SeedBrokers(v.spec.Brokers...), kgo.DisableClientMetrics(), kgo.KeepControlRecords(), kgo.FetchMaxWait(100 * time.Millisecond),
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: at}), kgo.MetadataMinAge(50 * time.Millisecond),
	}
	if v.spec.Transactions {
		opts = append(opts, kgo.FetchIsolationLevel(kgo.ReadCommitted()))
	}
	client, err := kgo.NewClient(opts...)
	if err != nil {
		v.t.Fatal(err)
	}
	v.t.Cleanup(client.Close)
	return &follower{
		topic: topic, admin: v.admin, client: client, tx: v.spec.Transactions,
		records: make(map[int32][]*kgo.Record), next: make(map[int32]int64),
	}
}

// sync reads up to where the topic ends now.
func (f *follower) sync(ctx context.Context) error {
	list := f.admin.ListEndOffsets
	if f.tx {
		list = f.admin.ListCommittedOffsets
	}
	var ends map[int32]kadm.ListedOffset
	for {
		listed, err := list(ctx, f.topic)
		if err == nil {
			err = listed.Error()
		}
		if err == nil {
			ends = listed[f.topic]
			break
		}
		if ctx.Err() != nil {
			return fmt.Errorf("end of %s: %w", f.topic, err)
		}
		time.Sleep(50 * time.Millisecond)
	}
	for f.before(ends) {
		fetches := f.client.PollFetches(ctx)
		if ctx.Err() != nil {
			return fmt.Errorf("%s: read %v of %v: %w", f.topic, f.next, ends, ctx.Err())
		}
		fetches.EachRecord(func(r *kgo.Record) {
			f.next[r.Partition] = r.Offset + 1
			if !r.Attrs.IsControl() {
				f.records[r.Partition] = append(f.records[r.Partition], r)
			}
		})
	}
	return nil
}

func (f *follower) before(ends map[int32]kadm.ListedOffset) bool {
	for p, end := range ends {
		if f.next[p] < end.Offset {
			return true
		}
	}
	return false
}

// at is the record at an offset; nil if there is none.
func (f *follower) at(partition int32, offset int64) *kgo.Record {
	records := f.records[partition]
	i, found := slices.BinarySearchFunc(records, offset, func(r *kgo.Record, o int64) int { return int(r.Offset - o) })
	if !found {
		return nil
	}
	return records[i]
}

// header is the first value of a header; nil if it is not there.
func header(r *kgo.Record, key string) []byte {
	for _, h := range r.Headers {
		if h.Key == key {
			return h.Value
		}
	}
	return nil
}

// deadLetters are the numbers of the records in the dead-letter topic, with how often.
func (v *world) deadLetters() map[int]int {
	dead := make(map[int]int)
	if v.dead == nil {
		return dead
	}
	for _, records := range v.dead.records {
		for _, r := range records {
			dead[numberOf(r.Value)]++
		}
	}
	return dead
}

// unsettled are the records that are neither processed nor dead letters.
func (v *world) unsettled(ctx context.Context) ([]int, error) {
	// The dead letters first: what leaves them unseen is still in the journal, or open.
	if v.dead != nil {
		if err := v.dead.sync(ctx); err != nil {
			return nil, err
		}
	}
	if err := v.book.read(); err != nil {
		return nil, err
	}
	dead := v.deadLetters()
	var open []int
	for n := range int(v.produced.Load()) {
		if dead[n] == 0 && !v.book.processed(n) {
			open = append(open, n)
		}
	}
	return open, nil
}

// settle waits until every record that was produced is settled.
func (v *world) settle(within time.Duration) {
	v.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	for {
		open, err := v.unsettled(ctx)
		if err == nil && len(open) == 0 {
			return
		}
		if ctx.Err() != nil {
			v.t.Errorf("LOST: %d of %d records are not settled after %v (%v)", len(open), v.produced.Load(), within, err)
			for _, n := range open[:min(len(open), 5)] {
				r := numbered(v.spec.Topic, v.spec.Partitions, v.spec.Born, n)
				v.t.Errorf("record %d of partition %d:%s", n, r.Partition, v.book.story(n))
			}
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// audit compares everything that was produced with what became of it, once nothing runs.
func (v *world) audit() {
	v.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	open, err := v.unsettled(ctx)
	if err != nil {
		v.t.Fatal(err)
	}
	if len(open) > 0 {
		v.t.Errorf("LOST: %d of %d records are neither processed nor dead letters, first %d:%s",
			len(open), v.produced.Load(), open[0], v.book.story(open[0]))
	}
	if err := v.queue.sync(ctx); err != nil {
		v.t.Fatal(err)
	}
	v.checkCopies()
	v.checkDeadLetters()
	b := v.book
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, w := range b.wrong[:min(len(b.wrong), 5)] {
		v.t.Errorf("%s", w)
	}
	if len(b.wrong) > 5 {
		v.t.Errorf("… and %d more", len(b.wrong)-5)
	}
}

// origins maps where a record was first to its number. A producer whose request was
// applied and answered with an error may have written one twice.
func (v *world) origins() map[kmq.ID]int {
	at := make(map[kmq.ID]int)
	for p, records := range v.queue.records {
		for _, r := range records {
			if header(r, "kmq-origin") == nil {
				at[kmq.ID{Partition: p, Offset: r.Offset}] = numberOf(r.Value)
			}
		}
	}
	return at
}

// checkCopies looks at each copy in the topic: key, value, headers and timestamp are
// those of the record, its origin is where that record is.
func (v *world) checkCopies() {
	v.t.Helper()
	origins := v.origins()
	for id, n := range origins {
		f := v.book.fates[n]
		if f == nil {
			continue
		}
		for _, d := range f.deliveries {
			if origins[d.id] != n {
				v.t.Errorf("record %d at %v was delivered as %v, which is record %d", n, id, d.id, origins[d.id])
				break
			}
		}
	}
	for p, records := range v.queue.records {
		for _, r := range records {
			if header(r, "kmq-origin") != nil {
				v.checkCopy(r, p, origins, "copy")
			}
		}
	}
}

// checkDeadLetters does the same for them, and looks for those that were promised.
func (v *world) checkDeadLetters() {
	v.t.Helper()
	origins := v.origins()
	for p, records := range v.dead.records {
		for _, r := range records {
			v.checkCopy(r, p, origins, "dead letter")
			for _, key := range []string{"kmq-reason", "kmq-deliveries"} {
				if len(header(r, key)) == 0 {
					v.t.Errorf("dead letter %d has no %s", numberOf(r.Value), key)
				}
			}
			if got := string(header(r, "kmq-topic")); got != v.spec.Topic {
				v.t.Errorf("dead letter of topic %q, not %q", got, v.spec.Topic)
			}
			if got := string(header(r, "kmq-group")); got != v.spec.Group {
				v.t.Errorf("dead letter of group %q, not %q", got, v.spec.Group)
			}
		}
	}
	dead := v.deadLetters()
	v.checkHanded(dead)
	for n, f := range v.book.fates {
		if f.rejected > 0 && dead[n] == 0 {
			v.t.Errorf("LOST: Reject of record %d returned, and it is no dead letter", n)
		}
	}
}

// checkHanded looks for records that were given up and that nobody was ever given. A
// process that dies takes with it what it had not handed out, and the log can't tell: where
// processes are killed, such records are counted.
func (v *world) checkHanded(dead map[int]int) {
	v.t.Helper()
	var never []int
	for n := range dead {
		if f := v.book.fates[n]; f == nil || len(f.deliveries) == 0 {
			never = append(never, n)
		}
	}
	switch {
	case len(never) == 0:
	case v.broken < v.spec.MaxDeliveries:
		v.t.Errorf("GIVEN UP UNSEEN: %d of %d dead letters were never delivered, first record %d", len(never), len(dead), slices.Min(never))
	default:
		v.t.Logf("%d of %d dead letters were never delivered; %d processes were broken", len(never), len(dead), v.broken)
	}
}

func (v *world) checkCopy(r *kgo.Record, partition int32, origins map[kmq.ID]int, what string) {
	v.t.Helper()
	n := numberOf(r.Value)
	if wrong := different(r, v.spec.Partitions, v.spec.Born, n, true); wrong != "" {
		v.t.Errorf("%s of record %d: %s", what, n, wrong)
	}
	id, ok := originOf(r)
	if of, known := origins[id]; !ok || !known || of != n {
		v.t.Errorf("%s of record %d has the origin %v, which is record %d", what, n, id, of)
	}
	if id.Partition != partition {
		v.t.Errorf("%s of record %d went from partition %d to %d", what, n, id.Partition, partition)
	}
}

// summary is what the journal comes to.
func (v *world) summary() string {
	b := v.book
	b.mu.Lock()
	defer b.mu.Unlock()
	var delivered, again, twice int
	for _, f := range b.fates {
		delivered += len(f.deliveries)
		if len(f.deliveries) > 1 {
			again++
		}
		if f.processed > 1 {
			twice += f.processed - 1
		}
	}
	killed := 0
	for _, n := range b.kills {
		killed += n
	}
	return fmt.Sprintf("%d records, %d deliveries, %d records delivered more than once, %d processed again, %d dead letters; %d kills %v; %v",
		v.produced.Load(), delivered, again, twice, len(v.deadLetters()), killed, sorted(b.kills), sorted(b.errors))
}

func sorted(counts map[string]int) string {
	var s []string
	for _, k := range slices.Sorted(maps.Keys(counts)) {
		s = append(s, fmt.Sprintf("%s: %d", k, counts[k]))
	}
	return "[" + strings.Join(s, ", ") + "]"
}

// committed is what a group has committed for a topic; -1 where it has not.
func (v *world) committed(ctx context.Context, group, topic string) (map[int32]kadm.Offset, error) {
	for {
		fetched, err := v.admin.FetchOffsets(ctx, group)
		if err == nil {
			err = fetched.Error()
		}
		if err == nil {
			at := make(map[int32]kadm.Offset)
			for p := range v.spec.Partitions {
				at[p] = kadm.Offset{Partition: p, At: -1}
				if o, ok := fetched.Lookup(topic, p); ok {
					at[p] = o.Offset
				}
			}
			return at, nil
		}
		if errors.Is(err, kerr.GroupIDNotFound) {
			return map[int32]kadm.Offset{}, nil
		}
		if ctx.Err() != nil {
			return nil, err
		}
		time.Sleep(50 * time.Millisecond)
	}
}
