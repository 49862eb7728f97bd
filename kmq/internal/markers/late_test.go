package markers

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"pgregory.net/rapid"

	"kafkabench.example/kafka-bench/kmq/internal/engine"
	"kafkabench.example/kafka-bench/kmq/internal/lease"
	"kafkabench.example/kafka-bench/kmq/internal/marker"
	"kafkabench.example/kafka-bench/kmq/internal/member"
	"kafkabench.example/kafka-bench/kmq/internal/window"
)

// startLate has starts wait.
func startLate(c *engine.Config) { c.StartFirst = false }

// seldom has nothing committed but what is due.
func seldom(c *engine.Config) { c.CommitEvery = time.Hour }

func longAgo() time.Time { return time.Now().Add(-time.Hour) }

// openLate opens a queue whose partitions have been read for long. Its starts wait for as long
// as it says; 0: as they do.
func (w *world) openLate(partitions int, wait time.Duration) *queue {
	w.Helper()
	q := w.open()
	if wait > 0 {
		q.late.after.Store(int64(wait))
	}
	w.until("the partitions are assigned", func() bool { return len(q.member.Owned()) == partitions })
	q.started.mu.Lock()
	defer q.started.mu.Unlock()
	for _, p := range q.started.parts {
		p.since = longAgo()
	}
	return q
}

// marked are the records of a partition of which there are markers of a type.
func (w *world) marked(partition int32, kind marker.Type) (n int32) {
	w.Helper()
	for _, m := range w.markers(partition) {
		if m.Type == kind {
			n += m.Count
		}
	}
	return n
}

// What is settled before it would be committed has no marker, and is committed soon.
func TestWhatIsSettledSoonHasNoMarker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 2, startLate)
		q := w.openLate(2, time.Hour)
		for range 5 {
			w.produce(0, 20)
			w.produce(1, 20)
			w.ack(q, w.receive(q, 40)...)
		}
		w.until("all is committed", func() bool {
			return w.committed(w.cfg.Group, w.cfg.Topic, 0) == 100 && w.committed(w.cfg.Group, w.cfg.Topic, 1) == 100
		})
		if n := len(w.markers(0)) + len(w.markers(1)); n > 0 {
			t.Errorf("%d markers", n)
		}
	})
}

// What stays open has a start, and offsets stay before it until it has: then they go on, and an
// acknowledgement writes its end.
func TestWhatStaysOpenIsStarted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1, startLate, seldom)
		q := w.openLate(1, time.Second)
		free := w.stuck(0)
		w.produce(0, 10)
		ls := w.receive(q, 10)
		for i, l := range ls {
			if i%2 == 0 {
				w.ack(q, l)
			}
		}
		w.until("its starts are aside", func() bool { return len(q.Counts().Paused) == 1 })
		if at := w.committed(w.cfg.Group, w.cfg.Topic, 0); at > 1 {
			t.Errorf("committed %d past what has no start", at)
		}
		free()
		w.until("all is committed", func() bool { return w.committed(w.cfg.Group, w.cfg.Topic, 0) == 10 })
		if started, ended := w.marked(0, marker.Start), w.marked(0, marker.End); started != 5 || ended != 0 {
			t.Errorf("%d starts and %d ends of 5 that are open", started, ended)
		}
		for i, l := range ls {
			if i%2 != 0 {
				w.ack(q, l)
			}
		}
		w.flush(q)
		if ended := w.marked(0, marker.End); ended != 5 {
			t.Errorf("%d ends", ended)
		}
		w.until("it is fetched again", func() bool { return len(q.Counts().Paused) == 0 })
	})
}

// A late start lends for what is left, so that what runs out comes again in time, and not early.
func TestALateStartLendsForWhatIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1, startLate, visible(2*time.Second))
		q := w.openLate(1, 0)
		w.produce(0, 1)
		l := w.receive(q, 1)[0]
		w.until("it is started", func() bool { return w.marked(0, marker.Start) == 1 })
		for _, m := range w.markers(0) {
			if m.Duration > w.cfg.Visibility-lateAtMost/2 {
				t.Errorf("lent for %v more, of %v", m.Duration, w.cfg.Visibility)
			}
		}
		again := w.receive(q, 1)[0]
		if late := time.Since(l.Deadline()); late < 0 || again.Attempt != 2 {
			t.Errorf("attempt %d, %v after the deadline", again.Attempt, late)
		}
		w.ack(q, again)
	})
}

// A record that is given back before it has a start has one that says when it is to come again.
func TestGivenBackBeforeTheStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1, startLate, visible(time.Minute))
		q := w.openLate(1, time.Hour)
		w.produce(0, 2)
		ls := w.receive(q, 2)
		const delay = time.Second
		began := time.Now()
		if err := errors.Join(q.Nack(w.ctx, ls[0], delay), q.Unhand(w.ctx, ls[1])); err != nil {
			t.Fatal(err)
		}
		l := w.receive(q, 1)[0]
		if l.Origin != ls[1].Origin || l.Attempt != 1 {
			t.Errorf("record %v, attempt %d, of one that was not delivered", l.Origin, l.Attempt)
		}
		w.ack(q, l)
		l = w.receive(q, 1)[0]
		if took := time.Since(began); l.Origin != ls[0].Origin || l.Attempt != 2 || took < delay || took > 30*time.Second {
			t.Errorf("record %v, attempt %d, after %v of %v", l.Origin, l.Attempt, took, delay)
		}
		w.ack(q, l)
		if n := w.marked(0, marker.Release); n != 1 {
			t.Errorf("%d releases: the one with a delay needs none", n)
		}
	})
}

// hold has the next write of markers wait until free is called; held is closed when it does.
func (w *world) hold() (held chan struct{}, free func()) {
	held, freed := make(chan struct{}), make(chan struct{})
	var once atomic.Bool
	w.onProduce(w.cfg.MarkersTopic, func(*kmsg.ProduceRequest) *kmsg.ProduceResponse {
		if !once.Swap(true) {
			close(held)
			w.fake.SleepControl(func() { <-freed })
		}
		return nil
	})
	return held, func() { close(freed) }
}

// What is settled while its start is on its way has its marker behind it.
func TestSettledWhileTheStartIsWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1, startLate, visible(time.Minute))
		q := w.openLate(1, 0)
		held, free := w.hold()
		w.produce(0, 3)
		ls := w.receive(q, 3)
		<-held
		w.ack(q, ls[0])
		extended := make(chan error, 1)
		go func() { extended <- q.Extend(w.ctx, ls[1], time.Hour) }()
		if err := q.Nack(w.ctx, ls[2], 0); err != nil {
			t.Fatal(err)
		}
		time.Sleep(3 * lingerAtMost) // what would be written, and is not to be
		select {
		case err := <-extended:
			t.Errorf("extended before the start is durable: %v", err)
		default:
		}
		free()
		if err := <-extended; err != nil {
			t.Fatal(err)
		}
		if left := time.Until(ls[1].Deadline()); left < 30*time.Minute {
			t.Errorf("lent for another %v", left)
		}
		again := w.receive(q, 1)[0]
		if again.Origin != ls[2].Origin || again.Attempt != 2 {
			t.Errorf("record %v, attempt %d", again.Origin, again.Attempt)
		}
		w.ack(q, again, ls[1])
		w.flush(q)
		first := map[int64]marker.Type{}
		for at := range int64(len(w.markers(0))) {
			m := w.markers(0)[at]
			for i := range int64(m.Count) {
				if _, ok := first[m.Offset+i]; !ok {
					first[m.Offset+i] = m.Type
				}
			}
		}
		for offset := range int64(3) {
			if first[offset] != marker.Start {
				t.Errorf("the first marker of record %d is of type %v", offset, first[offset])
			}
		}
	})
}

// To lend longer what has no start writes nothing: the start tells.
func TestExtendedBeforeTheStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1, startLate, visible(2*time.Second))
		q := w.openLate(1, time.Second)
		w.produce(0, 1)
		l := w.receive(q, 1)[0]
		if err := q.Extend(w.ctx, l, time.Hour); err != nil {
			t.Fatal(err)
		}
		w.until("it is started", func() bool { return w.marked(0, marker.Start) == 1 })
		all := w.markers(0)
		for _, m := range all {
			if m.Duration < 50*time.Minute {
				t.Errorf("lent for %v", m.Duration)
			}
		}
		if len(all) != 1 {
			t.Errorf("%d markers", len(all))
		}
		w.ack(q, l)
	})
}

// Starts that can't be written of one partition hold up nothing of the others, whose records
// need some, too; what was handed out is settled meanwhile, and is not delivered again.
func TestLateStartsThatCantBeWrittenHoldUpNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 2, startLate, visible(time.Minute))
		q := w.openLate(2, 0)
		free := w.stuck(1)
		w.produce(1, 5)
		held := w.receive(q, 5)
		w.until("it is set aside", func() bool { return len(q.Counts().Paused) == 1 })
		w.ack(q, held...)
		for range 5 {
			w.produce(0, 10)
			ls := w.receive(q, 10)
			time.Sleep(2 * lateAtMost) // until they have starts
			w.ack(q, ls...)
		}
		w.until("the other partition is committed", func() bool { return w.committed(w.cfg.Group, w.cfg.Topic, 0) == 50 })
		if at := w.committed(w.cfg.Group, w.cfg.Topic, 1); at > 0 {
			t.Errorf("committed %d past what has no start", at)
		}
		ctx, cancel := context.WithTimeout(w.ctx, time.Second)
		defer cancel()
		if err := q.Flush(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("flushed what is not committed: %v", err)
		}
		free()
		w.flush(q)
		if at := w.committed(w.cfg.Group, w.cfg.Topic, 1); at != 5 {
			t.Errorf("committed %d", at)
		}
		w.produce(1, 1)
		if l := w.receive(q, 1)[0]; l.At.Offset != 5 {
			t.Errorf("record %v is next", l.At)
		}
		w.until("nothing is open", func() bool { return w.marked(1, marker.End) == 5 })
	})
}

// What has no start when its partition is another's is lost: nothing is written of it.
func TestWhatHasNoStartIsLostWithItsPartition(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 2, startLate, visible(time.Hour), seldom)
		q := w.openLate(2, time.Hour)
		w.produce(0, 3)
		w.produce(1, 3)
		ls := w.receive(q, 6)
		slices.SortFunc(ls, func(a, b *lease.Lease) int { return int(a.At.Partition - b.At.Partition) })
		w.ack(q, ls[0], ls[3])
		handler{q}.Forget([]int32{1})
		for _, l := range ls {
			want := error(nil)
			switch {
			case l == ls[0] || l == ls[3]:
				want = lease.ErrSettled
			case l.At.Partition == 1:
				want = lease.ErrLost
			}
			if err := q.Ack(w.ctx, l); !errors.Is(err, want) {
				t.Errorf("ack of %v: %v, want %v", l.At, err, want)
			}
		}
		if n := q.Counts().Lost; n != 2 {
			t.Errorf("%d lost", n)
		}
		w.flush(q)
		if at := q.started.offsets(nil); len(at) != 1 || at[0].At != 3 {
			t.Errorf("may be committed: %v", at)
		}
		if n := len(w.markers(0)) + len(w.markers(1)); n > 0 {
			t.Errorf("%d markers", n)
		}
	})
}

// Who stood still asks the group before it writes starts: others may have read and ended those
// records. Once it is put out, none is written.
func TestWhoStoodStillStartsNothingOfOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1, startLate, visible(time.Hour))
		q := w.openLate(1, 0)
		w.produce(0, 1)
		w.ack(q, w.receive(q, 1)...)
		w.until("something is committed", func() bool { return w.committed(w.cfg.Group, w.cfg.Topic, 0) == 1 })
		q.marking.Lock() // none is taken meanwhile
		w.fake.ControlKey(int16(kmsg.OffsetCommit), func(req kmsg.Request) (kmsg.Response, error, bool) {
			w.fake.KeepControl()
			c := req.(*kmsg.OffsetCommitRequest)
			if c.Group != w.cfg.Group {
				return nil, nil, false
			}
			resp := c.ResponseKind().(*kmsg.OffsetCommitResponse)
			for _, of := range c.Topics {
				at := kmsg.NewOffsetCommitResponseTopic()
				at.Topic, at.TopicID = of.Topic, of.TopicID
				for _, p := range of.Partitions {
					refused := kmsg.NewOffsetCommitResponseTopicPartition()
					refused.Partition, refused.ErrorCode = p.Partition, kerr.UnknownMemberID.Code
					at.Partitions = append(at.Partitions, refused)
				}
				resp.Topics = append(resp.Topics, at)
			}
			return resp, nil, true
		})
		q.marking.Unlock()
		stood := &start{leases: []*lease.Lease{lease.FromRecord(&kgo.Record{Topic: w.cfg.Topic, Offset: 1})}}
		stood.runs = []marker.Marker{{Offset: 1, Count: 1}}
		stood.reads = q.started.reading(stood.runs)
		q.late.add(stood)
		q.marking.Lock()
		stood.from = time.Now().Add(-time.Minute) // when it was read
		q.marking.Unlock()
		if err := q.late.flush(w.ctx); !errors.Is(err, kerr.UnknownMemberID) {
			t.Errorf("flushed by one that the group has put out: %v", err)
		}
		handler{q}.Forget([]int32{0})
		if n := q.Counts().Lost; n != 1 {
			t.Errorf("%d lost", n)
		}
		if n := w.marked(0, marker.Start); n > 0 {
			t.Errorf("%d starts of what is another's", n)
		}
	})
}

// While a partition is young, starts come first.
func TestStartsComeFirstInAYoungPartition(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1, startLate, visible(time.Minute))
		q := w.openLate(1, 0)
		q.started.mu.Lock()
		q.started.parts[0].since, q.started.parts[0].crashed = time.Now().Add(time.Hour), true
		q.started.mu.Unlock()
		free := w.stuck(0)
		w.produce(0, 1)
		ctx, cancel := context.WithTimeout(w.ctx, 300*time.Millisecond)
		defer cancel()
		if ls, err := q.Receive(ctx, 1); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%d records without a start, %v", len(ls), err)
		}
		// What follows stays behind it, though the partition is no longer young.
		q.started.mu.Lock()
		q.started.parts[0].since = longAgo()
		q.started.mu.Unlock()
		w.produce(0, 5)
		ctx, cancel = context.WithTimeout(w.ctx, 300*time.Millisecond)
		defer cancel()
		if ls, err := q.Receive(ctx, 1); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%d records before those that come first, %v", len(ls), err)
		}
		free()
		for i, l := range w.receive(q, 6) {
			if l.At.Offset != int64(i) {
				t.Errorf("record %v is handed out as number %d", l.At, i)
			}
			w.ack(q, l)
		}
	})
}

// A late start that is refused for good ends the queue.
func TestLateStartsThatAreForbidden(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1, startLate, visible(time.Minute))
		q := w.openLate(1, 0)
		w.fake.Fault(kfake.Fault{
			Keys: []kmsg.Key{kmsg.Produce}, Topic: w.cfg.MarkersTopic, Partitions: []int32{0}, Err: kerr.TopicAuthorizationFailed, Count: -1,
		})
		w.produce(0, 1)
		l := w.receive(q, 1)[0]
		ctx, cancel := context.WithTimeout(w.ctx, patience)
		defer cancel()
		if ls, err := q.Receive(ctx, 1); !errors.Is(err, kerr.TopicAuthorizationFailed) {
			t.Errorf("%d records, %v", len(ls), err)
		}
		if err := q.Extend(ctx, l, time.Hour); err == nil {
			t.Error("extended")
		}
	})
}

// Closing gives back what is open and has no start, as what has one.
func TestCloseGivesBackWhatHasNoStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1, startLate)
		q := w.openLate(1, 0)
		w.produce(0, 10)
		ls := w.receive(q, 4)
		w.ack(q, ls[0])
		w.until("all are in flight", func() bool { return q.Counts().InFlight == 9 })
		if err := q.Close(w.ctx); err != nil {
			t.Fatal(err)
		}
		next := w.open()
		began := time.Now()
		attempts := map[int]int{}
		for _, l := range w.receive(next, 9) {
			attempts[l.Attempt]++
			w.ack(next, l)
		}
		if attempts[1] != 6 || attempts[2] != 3 {
			t.Errorf("deliveries by attempt: %v", attempts)
		}
		if took := time.Since(began); took > w.cfg.Visibility {
			t.Errorf("given back after %v, by the timeout", took)
		}
	})
}

// What may be committed is all that is done before the first that is not, in whatever order it
// is done.
func TestAdvance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := started{parts: map[int32]*position{}}
		s.assign(0, member.Offset{})
		var reads []read
		at := int64(0)
		for range rapid.IntRange(1, 20).Draw(t, "polls") {
			var runs []marker.Marker // of one poll
			for range rapid.IntRange(1, 3).Draw(t, "runs of a poll") {
				at += rapid.Int64Range(0, 3).Draw(t, "left out")
				n := rapid.Int64Range(1, 5).Draw(t, "records")
				runs = append(runs, marker.Marker{Offset: at, Count: int32(n)})
				at += n
			}
			reads = append(reads, s.reading(runs)...)
		}
		done := map[int64]window.Range{}
		for _, i := range rapid.Permutation(reads).Draw(t, "order") {
			s.advance([]read{i})
			done[i.from] = window.Range{From: i.from, To: i.to}
			want := int64(0)
			for r, ok := done[0]; ok; r, ok = done[want] {
				want = r.To
			}
			if got := s.offsets(nil)[0].At; got != want {
				t.Fatalf("%d may be committed, and all is done up to %d", got, want)
			}
		}
		if n := len(s.parts[0].ahead); n > 0 {
			t.Errorf("%d are kept when all is done", n)
		}
	})
}

// Where starts come first, so does a commit: a crash leaves nothing of what was handed out to be
// read again, and counted anew.
func TestWhatComesFirstIsCommitted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1, seldom)
		q := w.open()
		for i := range int64(5) {
			w.produce(0, 1)
			l := w.receive(q, 1)[0]
			if at := w.committed(w.cfg.Group, w.cfg.Topic, 0); at != i+1 {
				t.Errorf("committed %d when record %d is handed out", at, i)
			}
			w.ack(q, l)
		}
	})
}

// Starts come first of what is read first of a partition, whoever had it; and for a while from
// then on, however late that is, if somebody did not leave it in order.
func TestYoung(t *testing.T) { synctest.Test(t, testYoung) }

func testYoung(t *testing.T) {
	for _, was := range []string{"", inUse} {
		crashed := was != ""
		s := started{parts: map[int32]*position{}}
		runs := func(offset int64) []marker.Marker {
			return []marker.Marker{{Offset: offset, Count: 1}, {Offset: offset + 5, Count: 1}}
		}
		soon := time.Now().Add(time.Hour)
		s.assign(0, member.Offset{Metadata: was})
		if s.crashed(longAgo()) {
			t.Error("careful before anything was read")
		}
		s.reading(runs(0))
		if !s.young(runs(0), soon) || s.crashed(longAgo()) != crashed {
			t.Errorf("after %q the first that is read is old", was)
		}
		time.Sleep(time.Millisecond)
		s.reading(runs(10))
		if s.young(runs(10), longAgo()) != crashed || s.crashed(longAgo()) != crashed {
			t.Errorf("after %q what follows is young: %v", was, s.young(runs(10), longAgo()))
		}
		if s.young(runs(10), soon) || s.crashed(soon) {
			t.Errorf("after %q it is young for ever", was)
		}
		if !s.young([]marker.Marker{{Partition: 1, Count: 1}}, soon) {
			t.Error("one that is not assigned is old")
		}
	}
}

// Who leaves a partition in order says so with the last offset, and who crashes does not; nor who
// leaves one behind a crash that is not worked off.
func TestCommitsSayWhetherAPartitionIsInUse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1, startLate, seldom)
		metadata := func() string {
			all, err := w.adm.FetchOffsetsForTopics(w.ctx, w.cfg.Group, w.cfg.Topic)
			if err != nil {
				t.Fatal(err)
			}
			o, _ := all.Lookup(w.cfg.Topic, 0)
			return o.Metadata
		}
		q := w.open()
		w.produce(0, 3)
		w.ack(q, w.receive(q, 3)...)
		if m := metadata(); m != inUse {
			t.Errorf("committed with %q while it is in use", m)
		}
		w.produce(0, 3)
		w.ack(q, w.receive(q, 3)...)
		if err := q.Close(w.ctx); err != nil {
			t.Fatal(err)
		}
		if m := metadata(); m != "" {
			t.Errorf("committed with %q in the end", m)
		}

		at := &position{next: 6, read: 6, since: longAgo()}
		for _, c := range []struct {
			change func()
			clean  bool
		}{
			{func() {}, true},
			{func() { at.crashed = true }, true},
			{func() { at.since = time.Now() }, false},
			{func() { at.since = time.Time{} }, false},
			{func() { at.crashed = false }, true},
			{func() { at.read = 7 }, false},
		} {
			c.change()
			if o := at.leave(CarefulFor); (o.Metadata == "") != c.clean || o.Free != c.clean || o.At != 6 {
				t.Errorf("%+v is left with %+v", at, o)
			}
		}
	})
}

// What was settled while its starts were aside has its ends, though its partition was taken away
// before they were durable.
func TestEndsOfWhatWasAsideNeedNoOwnership(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 2, startLate, visible(time.Minute))
		q := w.openLate(2, 0)
		free := w.stuck(1)
		w.produce(1, 3)
		ls := w.receive(q, 3)
		w.until("it is set aside", func() bool { return len(q.Counts().Paused) == 1 })
		w.ack(q, ls[0])
		handler{q}.Forget([]int32{1})
		q.member.Pause(1) // as one that is not fetched
		free()
		w.until("it is ended", func() bool { return w.marked(1, marker.End) == 1 })
		w.ack(q, ls[1:]...)
		w.flush(q)
		if n := w.marked(1, marker.End); n != 3 || q.Counts().Lost > 0 {
			t.Errorf("%d ends, %d lost", n, q.Counts().Lost)
		}
	})
}

// A queue that can start nothing any more does not say that something is flushed.
func TestFlushOfWhatCanNotBeStarted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1, startLate, visible(time.Minute), seldom)
		q := w.openLate(1, time.Hour)
		w.produce(0, 2)
		ls := w.receive(q, 2)
		w.ack(q, ls[1])
		refused := errors.New("refused for good")
		q.starts.fail(refused)
		if err := q.late.flush(w.ctx); !errors.Is(err, refused) {
			t.Errorf("flush: %v", err)
		}
	})
}

// While the group does not say whether it still has the member, no more is fetched.
func TestNothingIsFetchedWhileNothingCanBeStarted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1, startLate)
		q := w.openLate(1, 0)
		q.late.unsure.Store(true)
		ctx, cancel := context.WithTimeout(w.ctx, 2*lateAtMost)
		defer cancel()
		handler{q}.Pace(ctx)
		if ctx.Err() == nil {
			t.Error("another poll may be begun")
		}
		q.late.unsure.Store(false)
		handler{q}.Pace(w.ctx)
		if w.ctx.Err() != nil {
			t.Error("no other poll may be begun")
		}
	})
}

// What a crash leaves uncommitted is the work of a CommitEvery: starts come first for longer.
func TestCarefulForLongerThanACommit(t *testing.T) {
	for every, want := range map[time.Duration]time.Duration{time.Second: CarefulFor, 10 * time.Second: 20 * time.Second} {
		if d := carefulFor(every); d != want {
			t.Errorf("%v where commits are made every %v, want %v", d, every, want)
		}
	}
}
