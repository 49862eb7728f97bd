package crash

import (
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kafkabench.example/kafka-bench/internal/kafka/access"
	"kafkabench.example/kafka-bench/internal/project/virtual"
)

type fault struct {
	name  string
	begin func(f *faulty) (end func())
	// quiet: the test's producer stops before the fault, because the fault would end it.
	quiet bool
	idle  []string
	// only is the affected engine; empty: all.
	only string
	// ends is a permanent error that may end queues of markers, which are then opened again; with
	// everyWrite it must end them.
	ends       error
	everyWrite bool
	// usual faults are always tried, brief ones also under -short, others with -fault.
	usual, brief bool
}

type faulty struct {
	*kfake.Cluster
	brokers *virtual.Cluster
	world   *world
	wire    *wire

	handles []handle
}

type handle struct {
	*kfake.FaultHandle
	keys  []kmsg.Key
	asked int64
}

func (f *faulty) answer(faults ...kfake.Fault) (end func()) {
	h := handle{FaultHandle: f.Fault(faults...)}
	for _, one := range faults {
		h.keys = append(h.keys, one.Keys...)
	}
	slices.Sort(h.keys)
	h.keys = slices.Compact(h.keys)
	h.asked = f.wire.asked(h.keys)
	f.handles = append(f.handles, h)
	return h.Remove
}

// last lets the fault last for d, or for up to ten times d until a request has met it. It returns
// how many injected errors the queues may have received; some is false if the fault injects none.
func (f *faulty) last(d time.Duration) (n int, some bool) {
	defer func() { f.handles = nil }()
	for over := time.Now().Add(10 * d); ; d = 100 * time.Millisecond {
		time.Sleep(d)
		n = 0
		for _, h := range f.handles {
			n += min(h.Hits(), int(f.wire.asked(h.keys)-h.asked))
		}
		if n > 0 || len(f.handles) == 0 || time.Now().After(over) {
			return n, len(f.handles) > 0
		}
	}
}

// wire loses some answers in a thousand and closes the connection, although the request succeeded.
type wire struct {
	perMille atomic.Int64
	requests [128]atomic.Int64
}

func (w *wire) asked(keys []kmsg.Key) (n int64) {
	for _, key := range keys {
		n += w.requests[key].Load()
	}
	return n
}

func (w *wire) through(dial access.Dial) access.Dial {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return wiredConn{c, w}, nil
	}
}

type wiredConn struct {
	net.Conn
	wire *wire
}

func (c wiredConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if rand.Int64N(1000) < c.wire.perMille.Load() {
		c.Conn.Close()
		return 0, errors.New("the connection broke")
	}
	return n, err
}

// Each call of Write has one request, which begins with its length and its key.
func (c wiredConn) Write(b []byte) (int, error) {
	c.wire.requests[binary.BigEndian.Uint16(b[4:])].Add(1)
	return c.Conn.Write(b)
}

// some answers a percentage of the requests with an error.
func some(percent int, err *kerr.Error, keys ...kmsg.Key) kfake.Fault {
	return kfake.Fault{Keys: keys, Err: err, Count: -1, When: func(kmsg.Request) bool { return rand.IntN(100) < percent }}
}

// once applies a fault only to the first item of a request. kfake checks the group of a request
// before the partitions, so only the group gets the error.
func once(f kfake.Fault) kfake.Fault {
	var last kmsg.Request
	when := f.When
	f.When = func(r kmsg.Request) bool {
		first := r != last
		last = r
		return first && when(r)
	}
	return f
}

func answers(faults ...kfake.Fault) func(f *faulty) func() {
	return func(f *faulty) func() {
		for i := range faults {
			// The error is in a field of the whole answer, or in the answer's parts.
			if topLevel[faults[i].Keys[0]] {
				faults[i].TopLevel = true
			}
		}
		return f.answer(faults...)
	}
}

// requests with one error for the whole answer
var topLevel = map[kmsg.Key]bool{kmsg.Heartbeat: true, kmsg.JoinGroup: true, kmsg.SyncGroup: true, kmsg.ShareGroupHeartbeat: true}

// Copies are in the topic itself, like the test's own records, so these faults hit only markers and dead letters.
func onlyOwn(faults ...kfake.Fault) func(f *faulty) func() {
	return func(f *faulty) func() {
		var own []kfake.Fault
		for _, topic := range []string{f.world.spec.Topic + "-markers", f.world.spec.DeadLetters} {
			for _, one := range faults {
				one.Topic = topic
				own = append(own, one)
			}
		}
		return f.answer(own...)
	}
}

func every(d time.Duration, do func(f *faulty)) func(f *faulty) func() {
	return func(f *faulty) func() {
		ctx, cancel := context.WithCancel(context.Background())
		var wg sync.WaitGroup
		wg.Go(func() {
			for tick := time.NewTicker(d); ctx.Err() == nil; {
				do(f)
				select {
				case <-ctx.Done():
				case <-tick.C:
				}
			}
		})
		return func() {
			cancel()
			wg.Wait()
		}
	}
}

var noGroup = []string{shareEngine}

var faults = []fault{
	{usual: true, name: "writes are applied and answered with a timeout", begin: answers(some(30, kerr.RequestTimedOut, kmsg.Produce))},
	{name: "writes are applied and answered with too few replicas", begin: answers(some(30, kerr.NotEnoughReplicasAfterAppend, kmsg.Produce))},
	{name: "writes are refused for a while", begin: answers(
		some(20, kerr.NotLeaderForPartition, kmsg.Produce), some(20, kerr.NotEnoughReplicas, kmsg.Produce), some(10, kerr.KafkaStorageError, kmsg.Produce))},
	{name: "writes are refused for good", quiet: true, ends: kerr.InvalidRequiredAcks, begin: answers(
		some(15, kerr.UnknownServerError, kmsg.Produce), some(5, kerr.InvalidRequiredAcks, kmsg.Produce))},
	{name: "no write is permitted", quiet: true, ends: kerr.TopicAuthorizationFailed, everyWrite: true, begin: answers(
		some(100, kerr.TopicAuthorizationFailed, kmsg.Produce))},
	{name: "writes lose their sequence", quiet: true, begin: answers(
		some(10, kerr.OutOfOrderSequenceNumber, kmsg.Produce), some(10, kerr.UnknownProducerID, kmsg.Produce), some(5, kerr.InvalidProducerEpoch, kmsg.Produce))},
	{name: "markers and dead letters are refused", begin: onlyOwn(some(60, kerr.UnknownServerError, kmsg.Produce))},
	{idle: noGroup, name: "commits are applied and answered with a timeout", begin: answers(some(50, kerr.RequestTimedOut, kmsg.OffsetCommit, kmsg.TxnOffsetCommit))},
	{idle: noGroup, name: "commits are refused", begin: answers(
		some(30, kerr.NotCoordinator, kmsg.OffsetCommit, kmsg.TxnOffsetCommit), some(20, kerr.CoordinatorLoadInProgress, kmsg.OffsetCommit, kmsg.TxnOffsetCommit),
		some(20, kerr.UnknownServerError, kmsg.OffsetCommit, kmsg.TxnOffsetCommit))},
	{idle: noGroup, name: "commits are of another generation", begin: answers(
		some(20, kerr.IllegalGeneration, kmsg.OffsetCommit, kmsg.TxnOffsetCommit), some(20, kerr.UnknownMemberID, kmsg.OffsetCommit, kmsg.TxnOffsetCommit),
		some(20, kerr.RebalanceInProgress, kmsg.OffsetCommit, kmsg.TxnOffsetCommit))},
	// A loading coordinator returns its error for the group, not for partitions. After such an error
	// for a partition, the client would not fetch the partition until it is assigned again.
	{idle: noGroup, name: "offsets can't be read", begin: func(f *faulty) func() {
		end := answers(some(50, kerr.UnstableOffsetCommit, kmsg.OffsetFetch), once(some(50, kerr.CoordinatorLoadInProgress, kmsg.OffsetFetch)))(f)
		putOut := answers(some(30, kerr.UnknownMemberID, kmsg.Heartbeat))(f)
		return func() { putOut(); end() }
	}},
	{usual: true, idle: noGroup, name: "members are put out", begin: answers(
		some(20, kerr.UnknownMemberID, kmsg.Heartbeat), some(20, kerr.IllegalGeneration, kmsg.Heartbeat), some(20, kerr.NotCoordinator, kmsg.Heartbeat))},
	{idle: noGroup, name: "groups can't be joined", begin: func(f *faulty) func() {
		end := answers(some(40, kerr.CoordinatorNotAvailable, kmsg.JoinGroup), some(40, kerr.UnknownMemberID, kmsg.JoinGroup),
			some(40, kerr.RebalanceInProgress, kmsg.SyncGroup), some(30, kerr.NotCoordinator, kmsg.SyncGroup))(f)
		putOut := answers(some(20, kerr.UnknownMemberID, kmsg.Heartbeat))(f)
		return func() { putOut(); end() }
	}},
	{idle: noGroup, name: "reads are refused", begin: answers(
		some(20, kerr.NotLeaderForPartition, kmsg.Fetch), some(20, kerr.UnknownTopicOrPartition, kmsg.Fetch), some(20, kerr.KafkaStorageError, kmsg.Fetch))},
	{idle: noGroup, name: "reads are out of range", begin: answers(some(3, kerr.OffsetOutOfRange, kmsg.Fetch))},
	{name: "nobody knows where things are", begin: func(f *faulty) func() {
		end := answers(some(30, kerr.LeaderNotAvailable, kmsg.Metadata), some(30, kerr.CoordinatorNotAvailable, kmsg.FindCoordinator),
			some(50, kerr.LeaderNotAvailable, kmsg.ListOffsets), some(50, kerr.UnknownServerError, kmsg.DescribeConfigs))(f)
		move := every(400*time.Millisecond, func(f *faulty) { f.RehashCoordinators() })(f)
		return func() { move(); end() }
	}},
	{usual: true, brief: true, name: "connections break after the request", begin: func(f *faulty) func() {
		f.wire.perMille.Store(30)
		return func() { f.wire.perMille.Store(0) }
	}},
	{name: "connections break before the request", begin: func(f *faulty) func() {
		var over atomic.Bool
		f.Control(func(kmsg.Request) (kmsg.Response, error, bool) {
			if over.Load() {
				f.DropControl()
				return nil, nil, false
			}
			f.KeepControl()
			if rand.IntN(100) < 3 {
				return nil, errors.New("broken on purpose"), true
			}
			return nil, nil, false
		})
		return func() { over.Store(true) }
	}},
	{name: "leaders move", begin: every(150*time.Millisecond, func(f *faulty) { f.ShufflePartitionLeaders() })},
	{name: "coordinators move", begin: every(400*time.Millisecond, func(f *faulty) { f.RehashCoordinators() })},
	{name: "everything moves", begin: func(f *faulty) func() {
		f.wire.perMille.Store(10)
		leaders := every(300*time.Millisecond, func(f *faulty) { f.ShufflePartitionLeaders() })(f)
		coordinators := every(700*time.Millisecond, func(f *faulty) { f.RehashCoordinators() })(f)
		return func() {
			f.wire.perMille.Store(0)
			leaders()
			coordinators()
		}
	}},
	{name: "share sessions are refused", only: shareEngine, begin: answers(
		some(10, kerr.ShareSessionNotFound, kmsg.ShareFetch), some(10, kerr.InvalidShareSessionEpoch, kmsg.ShareFetch, kmsg.ShareAcknowledge),
		some(10, kerr.NotLeaderForPartition, kmsg.ShareFetch, kmsg.ShareAcknowledge))},
	{usual: true, name: "acknowledgements are refused", only: shareEngine, begin: answers(
		some(20, kerr.RequestTimedOut, kmsg.ShareAcknowledge), some(20, kerr.InvalidRecordState, kmsg.ShareAcknowledge), some(10, kerr.FencedStateEpoch, kmsg.ShareAcknowledge))},
	{name: "share members are put out", only: shareEngine, begin: answers(
		some(10, kerr.UnknownMemberID, kmsg.ShareGroupHeartbeat), some(10, kerr.FencedMemberEpoch, kmsg.ShareGroupHeartbeat))},
}

const (
	faultLasts    = 1500 * time.Millisecond
	afterFault    = 100
	recoverWithin = 2 * time.Minute
)

// Two queues continue without help, and nothing is lost.
func TestFaults(t *testing.T) {
	t.Parallel()
	for _, w := range ways {
		if !strings.Contains(w.name, *onlyWay) || w.engine == shareEngine && quick {
			continue
		}
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				wire := new(wire)
				c := fake(t, 3)
				v := newWorld(t, c, 3, w.way)
				v.spec.dial = wire.through(v.spec.dial)
				f := &faulty{Cluster: c.Fake(), brokers: c, world: v, wire: wire}
				if w.external {
					defer v.tracker()()
				}
				workers := []worker{v.faultyPuppet("one"), v.faultyPuppet("two")}
				if !v.await(func() bool { return v.book.lines[lineOpened] >= int(v.serial.Load()) }, within) {
					t.Fatal("not all of the workers open")
				}
				f.all()
				v.settle(2 * time.Minute)
				for _, one := range workers {
					if err := one.close(); err != nil {
						t.Error(err)
					}
				}
				v.probe()
				v.audit()
				t.Log(v.summary())
			})
		})
	}
}

func (f *faulty) all() {
	v := f.world
	for _, one := range faults {
		if one.only != "" && one.only != v.spec.Engine || !one.asked() {
			continue
		}
		ended := v.book.lines[lineEnded]
		if one.quiet {
			if err := v.produce(context.Background(), 500); err != nil {
				v.t.Fatal(err)
			}
		}
		stop := func() error { return nil }
		if !one.quiet {
			stop = v.feed(300)
		}
		end := one.begin(f)
		hits, some := f.last(faultLasts)
		if one.everyWrite && v.spec.Engine == markersEngine {
			// A queue ends when its next start marker is refused. It writes no start markers during a
			// rebalance, so this may take a while.
			v.await(func() bool { return v.book.lines[lineEnded] > ended }, recoverWithin)
		}
		end()
		if some && hits == 0 && !slices.Contains(one.idle, v.spec.Engine) {
			v.t.Errorf("%s: it never happened", one.name)
		}
		if err := stop(); err != nil {
			v.t.Errorf("while %s: %v", one.name, err)
		}
		stop = v.feed(300)
		before := v.book.done()
		if !v.await(func() bool { return v.book.done() >= before+afterFault }, recoverWithin) {
			v.t.Errorf("STUCK: after %s (over for %v) only %d records were processed", one.name, recoverWithin, v.book.done()-before)
		}
		if err := stop(); err != nil {
			v.t.Error(err)
		}
		v.ended(one, v.book.lines[lineEnded]-ended)
		v.probe()
		if v.t.Failed() {
			v.t.Fatalf("after: %s", one.name)
		}
	}
}

func (v *world) ended(by fault, times int) {
	v.t.Helper()
	switch {
	case times > 0 && v.spec.Engine != markersEngine:
		v.t.Errorf("%s: workers received its error %d times, and only copies were refused", by.name, times)
	case times == 0 && v.spec.Engine == markersEngine && by.everyWrite:
		v.t.Errorf("%s: no queue ended by it", by.name)
	}
}

func (f fault) asked() bool {
	switch *onlyFault {
	case "":
		return f.brief || f.usual && !quick
	case "all":
		return true
	}
	return strings.Contains(f.name, *onlyFault)
}

func (v *world) faultyPuppet(slot string) worker {
	spec := v.child(slot)
	for _, one := range faults {
		if one.ends != nil && one.asked() {
			spec.ends = append(spec.ends, one.ends)
		}
	}
	return v.puppet(spec)
}

func (v *world) tracker() (end func()) {
	spec := v.child("tracker")
	spec.Role = roleTracker
	p := v.puppet(spec)
	return func() {
		if err := p.close(); err != nil {
			v.t.Errorf("%s: %v", p, err)
		}
	}
}
