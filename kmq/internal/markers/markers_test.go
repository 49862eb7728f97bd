package markers

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kafka-bench/internal/cluster/clustertest"
	"kafka-bench/kmq/internal/engine"
	"kafka-bench/kmq/internal/lease"
	"kafka-bench/kmq/internal/marker"
	"kafka-bench/kmq/internal/tracker"
	"kafka-bench/kmq/internal/window"
)

func visible(d time.Duration) func(*engine.Config) {
	return func(c *engine.Config) { c.Visibility = d }
}

// A record that is dropped comes again, as it was, from the tail of its partition.
func TestRedelivers(t *testing.T) {
	w := newWorld(t, 2, visible(3*time.Second))
	w.produce(1, 10)
	q := w.open()
	first := w.receive(q, 10)
	w.ack(q, first[:7]...)
	again := w.receive(q, 3)
	for i, l := range again {
		was := first[7+i]
		if l.Origin != was.Origin || l.At.Partition != 1 || l.At.Offset != int64(10+i) || l.Attempt != 2 {
			t.Errorf("origin %v, at %v, attempt %d; it was %v", l.Origin, l.At, l.Attempt, was.Origin)
		}
		r, o := l.Record, was.Record
		if string(r.Key) != string(o.Key) || string(r.Value) != string(o.Value) || !r.Timestamp.Equal(o.Timestamp) ||
			len(r.Headers) != 1 || r.Headers[0].Key != "h" || string(r.Headers[0].Value) != "x" {
			t.Errorf("redelivered as %+v, was %+v", r, o)
		}
	}
	if err := q.Ack(w.ctx, first[9]); !errors.Is(err, lease.ErrExpired) {
		t.Errorf("ack after the deadline: %v", err)
	}
	w.ack(q, again...)
	w.flush(q)
	w.until("the copies are counted", func() bool { return q.Counts().Tailed == 3 })
	if c := q.Counts(); c.Redelivered != 3 || c.Expired != 3 || c.Acked != 10 {
		t.Errorf("%+v", c)
	}
}

// Invariant 2: the tracker commits, for the group that it reads with, up to the lowest
// start without an end, and not beyond; the next tracker reads on from there.
func TestCommitStopsAtTheOldestOpenStart(t *testing.T) {
	w := newWorld(t, 1)
	q := w.open()
	var open *lease.Lease
	for i := range 5 { // five polls, five starts
		w.produce(0, 20)
		ls := w.receive(q, 20)
		if i == 2 {
			open = ls[7]
			ls = slices.Delete(ls, 7, 8)
		}
		w.ack(q, ls...)
		w.flush(q)
	}
	group := Group(w.cfg.Group)
	var held int64 = -1
	for offset, m := range w.markers(0) {
		if m.Type == marker.Start && m.Offset <= open.At.Offset && open.At.Offset < m.Offset+int64(m.Count) {
			held = offset
		}
	}
	highest := int64(-1)
	w.until("the tracker commits up to the open start", func() bool {
		highest = max(highest, w.committed(group, w.cfg.MarkersTopic, 0))
		return highest >= held
	})
	time.Sleep(500 * time.Millisecond) // ten commits
	if at := w.committed(group, w.cfg.MarkersTopic, 0); at != held {
		t.Errorf("committed %d, the start of the open record is at %d", at, held)
	}

	if err := q.tracker.Close(w.ctx); err != nil {
		t.Fatal(err)
	}
	lowest := w.fetches(w.cfg.MarkersTopic)
	next, err := NewTracker(w.ctx, w.cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer next.Close(w.ctx)
	w.until("the next tracker reads", func() bool { return lowest() >= 0 && lowest() <= held })
	if from := lowest(); from != held {
		t.Errorf("the next tracker began to read at %d, committed was %d", from, held)
	}
	w.ack(q, open)
	w.flush(q)
	end := int64(0)
	for offset := range w.markers(0) {
		end = max(end, offset+1)
	}
	w.until("the next tracker commits the end", func() bool { return w.committed(group, w.cfg.MarkersTopic, 0) == end })
}

// fetches says from which offset on a topic of one partition was read at the lowest, from
// now on; -1: not yet.
func (w *world) fetches(topic string) func() int64 {
	id := w.topicID(topic)
	var lowest atomic.Int64
	lowest.Store(-1)
	w.fake.ControlKey(int16(kmsg.Fetch), func(req kmsg.Request) (kmsg.Response, error, bool) {
		w.fake.KeepControl()
		for _, rt := range req.(*kmsg.FetchRequest).Topics {
			if rt.TopicID == id {
				at := rt.Partitions[0].FetchOffset
				if low := lowest.Load(); low < 0 || at < low {
					lowest.Store(at)
				}
			}
		}
		return nil, nil, false
	})
	return lowest.Load
}

func (w *world) topicID(topic string) [16]byte {
	w.Helper()
	all, err := w.adm.ListTopics(w.ctx, topic)
	if err != nil {
		w.Fatal(err)
	}
	return all[topic].ID
}

// Invariant 3: an end is written only after an ack or a durable copy.
func TestEndOnlyAfterAckOrCopy(t *testing.T) {
	w := newWorld(t, 1, visible(3*time.Second), func(c *engine.Config) {
		c.MaxDeliveries, c.DeadLetterTopic = 2, c.Topic+"-dead"
	})
	w.produce(0, 4)
	ends := func() (n int32) {
		for _, m := range w.markers(0) {
			if m.Type == marker.End {
				n += m.Count
			}
		}
		return n
	}
	q := w.open()
	ls := w.receive(q, 4)
	if n := ends(); n != 0 {
		t.Fatalf("%d ends before any ack", n)
	}
	queue, dead := w.topicID(w.cfg.Topic), w.topicID(w.cfg.DeadLetterTopic)
	refused, refuse := make(chan struct{}, 1000), make(chan struct{})
	w.fake.ControlKey(int16(kmsg.Produce), func(req kmsg.Request) (kmsg.Response, error, bool) {
		w.fake.KeepControl()
		select {
		case <-refuse:
			return nil, nil, false
		default:
		}
		p := req.(*kmsg.ProduceRequest)
		ours := false
		for _, rt := range p.Topics {
			ours = ours || rt.TopicID == queue || rt.TopicID == dead || rt.Topic == w.cfg.Topic || rt.Topic == w.cfg.DeadLetterTopic
		}
		if !ours {
			return nil, nil, false
		}
		select {
		case refused <- struct{}{}:
		default:
		}
		return refusal(p, kerr.NotEnoughReplicas), nil, true
	})
	w.ack(q, ls[0])
	for range 2 { // the copies are tried, and are not durable
		select {
		case <-refused:
		case <-time.After(patience):
			t.Fatal("no copy was tried")
		}
	}
	w.flush(q)
	if n := ends(); n != 1 {
		t.Errorf("%d ends, with one record acknowledged and no copy durable", n)
	}
	close(refuse)
	again := w.receive(q, 3)
	w.until("the copied ones have ended", func() bool { return ends() == 4 })
	w.ack(q, again[0])
	w.until("two dead letters", func() bool { return q.Counts().DeadLettered == 2 })
	if n := len(w.read(w.cfg.DeadLetterTopic, 0)); n != 2 {
		t.Errorf("%d dead letters", n)
	}
}

// Invariant 6: what is not in the log any more is counted and ended, and nothing else is
// delivered in its place.
func TestMissingIsCounted(t *testing.T) { missing(t, newWorld(t, 1, visible(2*time.Second))) }

func missing(t *testing.T, w *world) {
	w.produce(0, 10)
	q := w.open()
	w.receive(q, 10)
	deleted := kadm.Offsets{}
	deleted.Add(kadm.Offset{Topic: w.cfg.Topic, Partition: 0, At: 6, LeaderEpoch: -1})
	if _, err := w.adm.DeleteRecords(w.ctx, deleted); err != nil {
		t.Fatal(err)
	}
	again := w.receive(q, 4)
	for i, l := range again {
		if l.Origin.Offset != int64(6+i) {
			t.Errorf("%v delivered again", l.Origin)
		}
	}
	w.ack(q, again...)
	w.flush(q)
	w.until("six are missing", func() bool { return q.Counts().Missing == 6 })
	missing := int32(0)
	for _, m := range w.markers(0) {
		if m.Reason == marker.Missing {
			missing += m.Count
		}
	}
	if c := q.Counts(); missing != 6 || c.Tailed != 4 {
		t.Errorf("%d ended as missing; %+v", missing, c)
	}
}

// The reader returns the records at the offsets it was asked for and no others, says which
// are missing, and waits for what may still come.
func TestReader(t *testing.T) {
	w := newWorld(t, 1)
	w.produce(0, 3000)
	deleted := kadm.Offsets{}
	deleted.Add(kadm.Offset{Topic: w.cfg.Topic, Partition: 0, At: 5, LeaderEpoch: -1})
	if _, err := w.adm.DeleteRecords(w.ctx, deleted); err != nil {
		t.Fatal(err)
	}
	r := newReader(w.client, w.cfg.Topic, false)
	wanted := []int64{0, 2, 3, 4, 5, 6, 7, 9, 500, 1500, 1501, 2998, 2999, 3000, 3001}
	f, err := r.read(w.ctx, 0, singles(wanted))
	if !errors.Is(err, errNotYet) || f.through != 3000 {
		t.Errorf("through %d, %v", f.through, err)
	}
	var got, missing []int64
	for _, rec := range f.records {
		got = append(got, rec.Offset)
	}
	for _, m := range f.missing {
		for o := m.From; o < m.To; o++ {
			missing = append(missing, o)
		}
	}
	if !slices.Equal(got, []int64{5, 6, 7, 9, 500, 1500, 1501, 2998, 2999}) || !slices.Equal(missing, []int64{0, 2, 3, 4}) {
		t.Errorf("got %v, missing %v", got, missing)
	}
	if rest := above(singles(wanted), f.through); len(rest) != 2 {
		t.Errorf("left: %v", rest)
	}
}

// Invariant 8: never early, and how late is reported.
func TestNeverEarlyAndSoon(t *testing.T) { neverEarly(t, newWorld(t, 4, visible(time.Second)), 300) }

func neverEarly(t *testing.T, w *world, n int) {
	for p := range int32(4) {
		w.produce(p, n/4)
	}
	q := w.open()
	deadlines := map[lease.ID]time.Time{}
	for len(deadlines) < n {
		for _, l := range w.receive(q, 1) {
			deadlines[l.Origin] = l.Deadline()
		}
	}
	var late []time.Duration
	for len(late) < n {
		for _, l := range w.receive(q, 1) {
			now := time.Now()
			if now.Before(deadlines[l.Origin]) {
				t.Errorf("%v came %v early", l.Origin, deadlines[l.Origin].Sub(now))
			}
			late = append(late, now.Sub(deadlines[l.Origin]))
			w.ack(q, l)
		}
	}
	slices.Sort(late)
	t.Logf("delivered late by: p50 %v, p99 %v, max %v", late[n/2], late[n*99/100], late[n-1])
	counted := func() (sum int64) {
		for _, c := range q.Counts().Lateness.Counts {
			sum += c
		}
		return sum
	}
	w.until("the lateness of all is counted", func() bool { return counted() >= int64(n) })
	if h := q.Counts().Lateness; counted() != int64(n) || h.Sum <= 0 || h.Sum/time.Duration(n) > late[n-1]+time.Second {
		t.Errorf("lateness of %d records, %v together", counted(), h.Sum)
	}
}

// Invariant 9: an alarm where retention does not cover what is not settled.
func TestRetentionAlarm(t *testing.T) {
	var log heard
	w := newWorld(t, 1, func(c *engine.Config) { c.Log = logTo(&log) })
	w.produce(0, 10)
	q := w.open()
	ls := w.receive(q, 10)
	w.ack(q, ls[:3]...)
	w.flush(q)
	w.until("the tracker knows the oldest", func() bool { r := q.tracker.reach(); return len(r) == 1 && r[0].record == 3 })
	look := func() string {
		t.Helper()
		if err := q.tracker.watch.Look(w.ctx); err != nil {
			t.Fatal(err)
		}
		return q.Counts().RetentionAlarm
	}
	if a := look(); a != "" {
		t.Errorf("alarm where all is covered: %s", a)
	}
	// The records are a second old: more than three quarters of the retention.
	retention := "1100"
	set := func(topic string, key, value string) {
		t.Helper()
		if _, err := w.adm.AlterTopicConfigs(w.ctx, []kadm.AlterConfig{{Op: kadm.SetConfig, Name: key, Value: &value}}, topic); err != nil {
			t.Fatal(err)
		}
	}
	set(w.cfg.Topic, retentionTime, retention)
	if a := look(); !strings.Contains(a, "offset 3 of partition 0 of topic "+w.cfg.Topic+" is not settled") {
		t.Errorf("alarm: %q", a)
	}
	set(w.cfg.Topic, retentionTime, "604800000")
	if a := look(); a != "" {
		t.Errorf("alarm after retention was raised: %q", a)
	}
	time.Sleep(100 * time.Millisecond)
	set(w.cfg.MarkersTopic, retentionTime, "100")
	if a := look(); !strings.Contains(a, "of topic "+w.cfg.MarkersTopic+" is not settled") {
		t.Errorf("alarm: %q", a)
	}
	set(w.cfg.MarkersTopic, retentionTime, "604800000")
	deleted := kadm.Offsets{}
	deleted.Add(kadm.Offset{Topic: w.cfg.Topic, Partition: 0, At: 5, LeaderEpoch: -1})
	if _, err := w.adm.DeleteRecords(w.ctx, deleted); err != nil {
		t.Fatal(err)
	}
	if a := look(); !strings.Contains(a, "offsets 3 to 4 of partition 0 of topic "+w.cfg.Topic+" are deleted") {
		t.Errorf("alarm: %q", a)
	}
	if !strings.Contains(log.all(), "retention does not cover") {
		t.Error("nothing was logged")
	}
	w.ack(q, ls[3:]...)
	w.flush(q)
	w.until("no alarm once all is settled", func() bool { return look() == "" })
}

// What waits and was not delivered is covered by the alarm too.
func TestRetentionAlarmOfWhatWaits(t *testing.T) {
	w := newWorld(t, 1, func(c *engine.Config) { c.ExternalTracker, c.MaxInFlight = true, 2 })
	w.produce(0, 10)
	q := w.open()
	w.receive(q, 2)
	w.until("the poll is committed", func() bool { return w.committed(w.cfg.Group, w.cfg.Topic, 0) == 2 })
	deleted := kadm.Offsets{}
	deleted.Add(kadm.Offset{Topic: w.cfg.Topic, Partition: 0, At: 8, LeaderEpoch: -1})
	if _, err := w.adm.DeleteRecords(w.ctx, deleted); err != nil {
		t.Fatal(err)
	}
	if err := q.watch.Look(w.ctx); err != nil {
		t.Fatal(err)
	}
	if a := q.Counts().RetentionAlarm; !strings.Contains(a, "offsets 2 to 7") {
		t.Errorf("alarm: %q", a)
	}
}

func TestTopics(t *testing.T) {
	appended, created, compact := logAppendTime, "CreateTime", "compact"
	for _, c := range []struct {
		name       string
		partitions int32
		configs    map[string]*string
		want       string
	}{
		{"another count of partitions", 3, map[string]*string{timestampType: &appended}, "has 2 partitions and the markers' topic"},
		{"create time", 2, map[string]*string{timestampType: &created}, "set it to LogAppendTime"},
		{"compaction", 2, map[string]*string{timestampType: &appended, cleanupPolicy: &compact}, "set it to delete"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, 2)
			if _, err := w.adm.CreateTopic(w.ctx, c.partitions, 1, c.configs, w.cfg.MarkersTopic); err != nil {
				t.Fatal(err)
			}
			_, err := New(w.ctx, w.cfg)
			if !errors.Is(err, lease.ErrConfig) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v", err)
			}
		})
	}
	t.Run("created", func(t *testing.T) {
		w := newWorld(t, 2)
		kept := "123456789"
		if _, err := w.adm.AlterTopicConfigs(w.ctx, []kadm.AlterConfig{{Op: kadm.SetConfig, Name: retentionTime, Value: &kept}}, w.cfg.Topic); err != nil {
			t.Fatal(err)
		}
		w.open()
		for key, want := range map[string]string{timestampType: logAppendTime, cleanupPolicy: "delete", retentionTime: kept} {
			v, err := engine.TopicConfig(w.ctx, w.client, w.cfg.MarkersTopic, key)
			if err != nil || v == nil || *v != want {
				t.Errorf("%s: %v, %v; want %s", key, v, err, want)
			}
		}
	})
}

// A marker that can't be read is refused loudly; records are redelivered all the same, but
// nothing from it on is committed.
func TestUnreadableMarker(t *testing.T) {
	var log heard
	w := newWorld(t, 1, visible(2*time.Second), func(c *engine.Config) { c.Log = logTo(&log) })
	q := w.open()
	w.produce(0, 1)
	w.ack(q, w.receive(q, 1)...)
	w.flush(q)
	_, key, value := marker.Append(nil, marker.Marker{Offset: 5, Type: marker.Start, Count: 1})
	value[0] = 2 << 4 // of a later version
	r := &kgo.Record{Topic: w.cfg.MarkersTopic, Key: key, Value: value}
	if err := w.client.ProduceSync(w.ctx, r).FirstErr(); err != nil {
		t.Fatal(err)
	}
	w.produce(0, 1)
	w.receive(q, 1)
	w.ack(q, w.receive(q, 1)...) // again
	w.flush(q)
	group := Group(w.cfg.Group)
	w.until("what is before is committed", func() bool { return w.committed(group, w.cfg.MarkersTopic, 0) == r.Offset })
	time.Sleep(300 * time.Millisecond)
	if at := w.committed(group, w.cfg.MarkersTopic, 0); at != r.Offset {
		t.Errorf("committed %d, beyond the marker at %d", at, r.Offset)
	}
	if n := q.Counts().Unreadable; n != 1 {
		t.Errorf("%d unreadable markers are counted", n)
	}
	if !strings.Contains(log.all(), "can't be read") || !strings.Contains(log.all(), "unknown version") {
		t.Errorf("logged: %s", log.all())
	}
}

// Closing gives back what is open, at once and not by the timeout, and what was never
// handed out does not count as delivered.
func TestCloseGivesBack(t *testing.T) {
	w := newWorld(t, 1)
	w.produce(0, 10)
	q := w.open()
	w.receive(q, 4)
	w.until("all are started", func() bool { return q.Counts().InFlight == 10 })
	if err := q.Close(w.ctx); err != nil {
		t.Fatal(err)
	}
	next := w.open()
	began := time.Now()
	attempts := map[int]int{}
	for _, l := range w.receive(next, 10) {
		attempts[l.Attempt]++
		w.ack(next, l)
	}
	if attempts[1] != 6 || attempts[2] != 4 {
		t.Errorf("deliveries by attempt: %v", attempts)
	}
	if took := time.Since(began); took > w.cfg.Visibility {
		t.Errorf("given back after %v, by the timeout", took)
	}
}

// A holder that lost its partition without knowing it must not cut short the time of the
// next one.
func TestReleaseByAnotherHolder(t *testing.T) {
	w := newWorld(t, 1, visible(2*time.Second), func(c *engine.Config) { c.ExternalTracker = true })
	w.produce(0, 1)
	q := w.open()
	l := w.receive(q, 1)[0]
	other := newOutbox(q.writer, &w.cfg, q.holder+1)
	other.put(fact{partition: 0, kind: marker.Release}, l.At.Offset)
	if err := other.flush(w.ctx); err != nil {
		t.Fatal(err)
	}
	other.end()
	<-other.done
	tr, err := NewTracker(w.ctx, w.cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close(w.ctx)
	again := w.receive(q, 1)[0]
	if early := time.Until(l.Deadline()); early > 0 {
		t.Errorf("delivered again %v before the deadline of its holder", early)
	}
	w.ack(q, again)
}

// What was settled in whatever order is written as one marker for each run of neighbours
// with the same fate.
func TestEndsAreBatched(t *testing.T) {
	o := &outbox{pending: map[fact][]window.Range{}, topic: "markers", holder: 7, wake: make(chan struct{}, 1), kick: make(chan struct{}, 1)}
	end := fact{partition: 3, kind: marker.End, reason: marker.Acked}
	release := fact{partition: 3, kind: marker.Release, delay: time.Second}
	for i := range int64(500) {
		offset := (i * 7) % 500
		if offset == 100 {
			o.put(release, offset)
			continue
		}
		o.put(end, offset)
	}
	b := o.take()
	var got []marker.Marker
	for _, r := range b.markers {
		m, err := marker.Parse(r.Key, r.Value)
		if err != nil || r.Partition != 3 || r.Topic != "markers" {
			t.Fatalf("%+v: %v", r, err)
		}
		got = append(got, m)
	}
	slices.SortFunc(got, func(a, b marker.Marker) int { return int(a.Offset - b.Offset) })
	want := []marker.Marker{
		{Partition: 3, Offset: 0, Count: 100, Type: marker.End},
		{Partition: 3, Offset: 100, Count: 1, Type: marker.Release, Duration: time.Second, Holder: 7},
		{Partition: 3, Offset: 101, Count: 399, Type: marker.End},
	}
	if !slices.Equal(got, want) || b.records != 500 || o.records != 0 || o.ranges != 0 {
		t.Errorf("got %+v", got)
	}
}

// What the client gave up is written all the same.
func TestEndsThatFailAreWrittenAgain(t *testing.T) {
	w := newWorld(t, 1)
	w.produce(0, 10)
	q := w.open()
	ls := w.receive(q, 10)
	markers := w.topicID(w.cfg.MarkersTopic)
	failed := 0
	w.fake.ControlKey(int16(kmsg.Produce), func(req kmsg.Request) (kmsg.Response, error, bool) {
		w.fake.KeepControl()
		p := req.(*kmsg.ProduceRequest)
		if failed == 3 || len(p.Topics) != 1 || p.Topics[0].TopicID != markers && p.Topics[0].Topic != w.cfg.MarkersTopic {
			return nil, nil, false
		}
		failed++
		return refusal(p, kerr.PolicyViolation), nil, true // not one that the client tries again
	})
	w.ack(q, ls...)
	w.flush(q)
	ended := int32(0)
	for _, m := range w.markers(0) {
		if m.Type == marker.End {
			ended += m.Count
		}
	}
	if ended != 10 || failed != 3 {
		t.Errorf("%d ended after %d failures", ended, failed)
	}
	if held := q.out.held.Load(); held != 0 {
		t.Errorf("%d records are held as not written", held)
	}
}

// The bound of what is not written holds up settling, and ctx ends the wait.
func TestOutboxIsBounded(t *testing.T) {
	w := newWorld(t, 1)
	w.produce(0, 1)
	q := w.open()
	l := w.receive(q, 1)[0]
	q.out.held.Add(unwrittenBound)
	ctx, cancel := context.WithTimeout(w.ctx, 50*time.Millisecond)
	defer cancel()
	if err := q.Ack(ctx, l); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("ack at the bound: %v", err)
	}
	q.out.held.Add(-unwrittenBound)
	w.ack(q, l) // it was not settled
}

// Starts and commits in one transaction, copies and ends in another: what was aborted is
// seen by nobody, and the offsets are committed with the starts.
func inTxns(t *testing.T, w *world) {
	const n = 200
	for p := range int32(2) {
		w.produce(p, n/2)
	}
	q := w.open()
	var dropped []*lease.Lease
	for i, l := range w.receive(q, n) {
		if i%10 == 0 {
			dropped = append(dropped, l)
			continue
		}
		w.ack(q, l)
	}
	for p := range int32(2) {
		w.until("what was started is committed", func() bool { return w.committed(w.cfg.Group, w.cfg.Topic, p) == n/2 })
	}
	again := w.receive(q, len(dropped))
	for _, l := range again {
		if l.Attempt != 2 || l.At.Offset < n/2 || l.At.Offset == n/2+n/20 { // behind the transaction's own marker
			t.Errorf("attempt %d at %v", l.Attempt, l.At)
		}
	}
	w.ack(q, again...)
	w.flush(q)
	w.until("the tracker commits", func() bool {
		for p := range int32(2) {
			ends, err := w.adm.ListEndOffsets(w.ctx, w.cfg.MarkersTopic)
			if err != nil {
				t.Fatal(err)
			}
			end, _ := ends.Lookup(w.cfg.MarkersTopic, p)
			if w.committed(Group(w.cfg.Group), w.cfg.MarkersTopic, p) != end.Offset {
				return false
			}
		}
		return true
	})
	if err := q.Close(w.ctx); err != nil {
		t.Error(err)
	}
	next := w.open()
	ctx, cancel := context.WithTimeout(w.ctx, time.Second)
	defer cancel()
	if ls, err := next.Receive(ctx, 1); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%d records came again, %v", len(ls), err)
	}
}

func inTransactions(c *engine.Config) { c.Transactions, c.Visibility = true, 4*time.Second }

func TestTransactions(t *testing.T) { inTxns(t, newWorld(t, 2, inTransactions)) }

// TestKafka repeats on Apache Kafka what depends on its time and its transactions.
func TestKafka(t *testing.T) {
	k := clustertest.Kafka(t, 1)
	t.Run("transactions", func(t *testing.T) { inTxns(t, onBrokers(t, k.Bootstrap(), 2, inTransactions)) })
	t.Run("missing", func(t *testing.T) {
		missing(t, onBrokers(t, k.Bootstrap(), 1, visible(2*time.Second)))
	})
	t.Run("never early", func(t *testing.T) {
		neverEarly(t, onBrokers(t, k.Bootstrap(), 4, visible(time.Second)), 400)
	})
	t.Run("append time", func(t *testing.T) { appendTime(t, onBrokers(t, k.Bootstrap(), 1)) })
}

// The markers' time is the broker's, whatever the clock of the one who wrote them.
func appendTime(t *testing.T, w *world) {
	w.produce(0, 1)
	q := w.open()
	w.ack(q, w.receive(q, 1)...)
	w.flush(q)
	r := record(w.cfg.MarkersTopic, marker.Marker{Offset: -1, Type: marker.Tick})
	r.Timestamp = time.Now().Add(-10 * time.Minute)
	if err := w.client.ProduceSync(w.ctx, r).FirstErr(); err != nil {
		t.Fatal(err)
	}
	for _, m := range w.read(w.cfg.MarkersTopic, 0) {
		if age := time.Since(m.Timestamp); age > time.Minute || m.Attrs.TimestampType() != 1 {
			t.Errorf("marker %d: %v old, of timestamp type %d", m.Offset, age, m.Attrs.TimestampType())
		}
	}
}

// A tracker on its own, and one that takes over: whatever was started before is
// redelivered once, at its deadline.
func TestTrackersHandOver(t *testing.T) {
	w := newWorld(t, 4, visible(6*time.Second), func(c *engine.Config) { c.ExternalTracker = true })
	const n = 40
	for p := range int32(4) {
		w.produce(p, n/4)
	}
	q := w.open()
	first := w.receive(q, n)
	one, err := NewTracker(w.ctx, w.cfg)
	if err != nil {
		t.Fatal(err)
	}
	w.until("the first tracker reads all", func() bool { return covered(one) == 4 })
	two, err := NewTracker(w.ctx, w.cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer two.Close(w.ctx)
	w.until("they share the partitions", func() bool { return len(one.owned()) == 2 && len(two.owned()) == 2 })
	if err := one.Close(w.ctx); err != nil {
		t.Fatal(err)
	}
	again := w.receive(q, n)
	seen := map[lease.ID]bool{}
	for _, l := range again {
		if seen[l.Origin] || l.Attempt != 2 {
			t.Errorf("%v: attempt %d, came before: %v", l.Origin, l.Attempt, seen[l.Origin])
		}
		seen[l.Origin] = true
		if i := slices.IndexFunc(first, func(f *lease.Lease) bool { return f.Origin == l.Origin }); time.Now().Before(first[i].Deadline()) {
			t.Errorf("%v came early", l.Origin)
		}
	}
	w.ack(q, again...)
	w.flush(q)
	if tailed := one.Counts().Tailed + two.Counts().Tailed; tailed != n {
		t.Errorf("%d copies", tailed)
	}
}

// covered is in how many partitions a tracker has read a start.
func covered(t *Tracker) (n int) {
	for _, r := range t.reach() {
		if r.record >= 0 {
			n++
		}
	}
	return n
}

// A fault that no waiting mends ends the queue, and Receive says which.
func TestStartsThatAreForbidden(t *testing.T) {
	w := newWorld(t, 1)
	q := w.open()
	markers := w.topicID(w.cfg.MarkersTopic)
	w.fake.ControlKey(int16(kmsg.Produce), func(req kmsg.Request) (kmsg.Response, error, bool) {
		w.fake.KeepControl()
		p := req.(*kmsg.ProduceRequest)
		if p.Topics[0].TopicID != markers && p.Topics[0].Topic != w.cfg.MarkersTopic {
			return nil, nil, false
		}
		return refusal(p, kerr.TopicAuthorizationFailed), nil, true
	})
	w.produce(0, 1)
	ctx, cancel := context.WithTimeout(w.ctx, patience)
	defer cancel()
	if ls, err := q.Receive(ctx, 1); !errors.Is(err, kerr.TopicAuthorizationFailed) {
		t.Errorf("%d records, %v", len(ls), err)
	}
	if err := q.Close(ctx); errors.Is(err, context.DeadlineExceeded) { // what was not started need not be given back
		t.Errorf("close: %v", err)
	}
}

// Nothing is handed out, and nothing committed, before its start is durable.
func TestStartComesFirst(t *testing.T) {
	w := newWorld(t, 1)
	q := w.open()
	w.until("the partition is assigned", func() bool { return len(q.member.Owned()) == 1 })
	markers := w.topicID(w.cfg.MarkersTopic)
	var allow atomic.Bool
	tried := make(chan struct{}, 1)
	w.fake.ControlKey(int16(kmsg.Produce), func(req kmsg.Request) (kmsg.Response, error, bool) {
		w.fake.KeepControl()
		p := req.(*kmsg.ProduceRequest)
		if allow.Load() || p.Topics[0].TopicID != markers && p.Topics[0].Topic != w.cfg.MarkersTopic {
			return nil, nil, false
		}
		signal(tried)
		return refusal(p, kerr.NotEnoughReplicas), nil, true
	})
	w.produce(0, 3)
	select {
	case <-tried:
	case <-time.After(patience):
		t.Fatal("no start was tried")
	}
	ctx, cancel := context.WithTimeout(w.ctx, 300*time.Millisecond)
	defer cancel()
	if ls, err := q.Receive(ctx, 1); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%d records, %v", len(ls), err)
	}
	if at := w.committed(w.cfg.Group, w.cfg.Topic, 0); at > 0 {
		t.Errorf("committed %d", at)
	}
	allow.Store(true)
	w.ack(q, w.receive(q, 3)...)
	w.flush(q)
	if at := w.committed(w.cfg.Group, w.cfg.Topic, 0); at != 3 {
		t.Errorf("committed %d after the flush", at)
	}
}

// What is due is not redelivered before everything was read that there was: its end may be
// in it. So a tracker that takes over repeats nothing that the one before has done.
func TestReadsUpBeforeRedelivering(t *testing.T) {
	p := newPart(&Tracker{cfg: engine.Config{Visibility: time.Second}}, 0)
	at := func(offset int64, ms int64, m marker.Marker) *kgo.Record {
		r := record("markers", m)
		r.Offset, r.Timestamp = offset, time.UnixMilli(ms)
		return r
	}
	start := marker.Marker{Offset: 0, Type: marker.Start, Count: 2, Duration: time.Second}
	end := marker.Marker{Offset: 0, Type: marker.End, Count: 1, Reason: marker.Copied}
	tick := marker.Marker{Offset: -1, Type: marker.Tick}
	p.take(kgo.FetchPartition{HighWatermark: 4, Records: []*kgo.Record{at(0, 0, start), at(1, 5000, tick)}}, time.Hour)
	if _, needsTick, ok := p.state.Next(); needsTick || !ok {
		t.Fatal("nothing is due")
	}
	if p.readUp() {
		t.Error("redelivered with two markers unread")
	}
	p.take(kgo.FetchPartition{HighWatermark: 9, Records: []*kgo.Record{at(2, 5001, end), at(3, 5002, tick)}}, time.Hour)
	if !p.readUp() {
		t.Error("waits for markers that were appended after it was due")
	}
	if due := p.state.Due(time.Hour, 10); len(due) != 1 || due[0].From != 1 {
		t.Errorf("due: %v", due)
	}
}

// While more is kept of a partition than should be, what is due is worked off first.
func TestMemoryOfATrackerIsBounded(t *testing.T) {
	w := newWorld(t, 1)
	tr, err := NewTracker(w.ctx, w.cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close(w.ctx)
	p := newPart(tr, 0)
	p.state = tracker.New(0)
	for i := range int64(spansAtMost + 1) {
		p.state.Apply(i, time.UnixMilli(0), tracker.Seen{}, marker.Marker{Type: marker.Start, Offset: 2 * i, Count: 1})
	}
	p.end, p.barrier = 1<<40, 1<<40
	p.state.Apply(1<<30, time.UnixMilli(1000), tracker.Seen{}, marker.Marker{Type: marker.Tick, Offset: -1})
	p.bound()
	if p.paused {
		t.Error("paused, with nothing taken that would make room")
	}
	if !p.readUp() {
		t.Error("waits for more markers while there are too many")
	}
	due := p.state.Due(time.Hour, 100)
	if p.bound(); !p.paused || len(tr.group.PauseFetchPartitions(nil)[w.cfg.MarkersTopic]) != 1 {
		t.Error("not paused")
	}
	for _, d := range due {
		p.state.Ended(marker.Marker{Type: marker.End, Offset: d.From, Count: int32(d.Len()), Reason: marker.Copied}, time.Hour)
	}
	if p.bound(); p.paused || len(tr.group.PauseFetchPartitions(nil)[w.cfg.MarkersTopic]) != 0 {
		t.Error("not resumed")
	}
}

// Invariant 6: of what a fetch returned, a record stands for its own offset alone. One that
// compaction or a transaction has left a gap for is missing.
func TestARecordIsTheOneAskedFor(t *testing.T) {
	at := func(offsets ...int64) (records []*kgo.Record) {
		for _, o := range offsets {
			records = append(records, &kgo.Record{Offset: o})
		}
		return records
	}
	c, f := cursor{wanted: []window.Range{{From: 1, To: 4}, {From: 6, To: 9}}}, found{}
	c.take(&f, at(0, 1, 3, 5, 6), 7)
	c.take(&f, at(8, 9), 10)
	var got []int64
	for _, r := range f.records {
		got = append(got, r.Offset)
	}
	if !slices.Equal(got, []int64{1, 3, 6, 8}) || !slices.Equal(f.missing, []window.Range{{From: 2, To: 3}, {From: 7, To: 8}}) || !c.over() {
		t.Errorf("got %v, missing %v, left %v", got, f.missing, c.wanted)
	}
}

// What ended, or was lent again, between being found due and being copied is not copied.
func TestWhatEndedMeanwhileIsNotCopied(t *testing.T) {
	p := newPart(&Tracker{cfg: engine.Config{Topic: "queue"}}, 0)
	p.state = tracker.New(0)
	offset := int64(0)
	apply := func(ms int64, m marker.Marker) {
		p.state.Apply(offset, time.UnixMilli(ms), tracker.Seen{}, m)
		offset++
	}
	apply(0, marker.Marker{Type: marker.Start, Offset: 0, Count: 5, Duration: time.Second})
	apply(2000, marker.Marker{Type: marker.Tick, Offset: -1})
	due := p.state.Due(0, 10)
	apply(2001, marker.Marker{Type: marker.End, Offset: 1, Count: 1})
	apply(2002, marker.Marker{Type: marker.Start, Offset: 3, Count: 1, Duration: time.Second})
	var f found
	for o := range int64(5) {
		f.records = append(f.records, &kgo.Record{Topic: "queue", Offset: o})
	}
	var ended []int64
	for _, m := range p.copies(f, due) {
		if m.copied == nil || m.copied.Topic != "queue" {
			t.Errorf("copy of %d: %+v", m.offset, m.copied)
		}
		ended = append(ended, m.offset)
	}
	if !slices.Equal(ended, []int64{0, 2, 4}) {
		t.Errorf("ends of %v", ended)
	}
}

// What is not known to be started is not given back: it is not committed, and others read
// it again.
func TestOnlyWhatIsStartedIsGivenBack(t *testing.T) {
	w := newWorld(t, 1)
	q := w.open()
	for i, as := range []any{nil, ready{}, handed{}} {
		l := lease.FromRecord(&kgo.Record{Offset: int64(i)})
		q.set.Add(l, time.Now().Add(time.Hour))
		q.mark([]*lease.Lease{l}, as)
	}
	q.giveBack()
	w.flush(q)
	released := map[int64]bool{}
	for _, m := range w.markers(0) {
		released[m.Offset] = m.Undelivered
	}
	if undelivered, ok := released[1]; len(released) != 2 || !ok || !undelivered || released[2] {
		t.Errorf("released, and undelivered: %v", released)
	}
}
