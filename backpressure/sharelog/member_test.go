package sharelog_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kafkabench.example/kafka-bench/backpressure/sharelog"
	"kafkabench.example/kafka-bench/backpressure/shares"
)

func about(part, want float64) bool { return math.Abs(part-want) < 0.05 }

// A dead process's part is free only after its records are committed.
func TestPartsFollowDemandAndSurviveADeath(t *testing.T) {
	inVirtualTime(t, testPartsFollowDemandAndSurviveADeath)
}

func testPartsFollowDemandAndSurviveADeath(t *testing.T, cluster *cluster, w *world) {
	a, b, c := start(t, cluster, w, "a", 50), start(t, cluster, w, "b", 50), start(t, cluster, w, "c", 50)
	all := []*process{a, b, c}
	sum := func() float64 { return a.Part() + b.Part() + c.Part() }
	until(t, "a third each", 10*time.Second, func() bool {
		return about(a.Part(), 1./3) && about(b.Part(), 1./3) && about(c.Part(), 1./3) && sum() > 0.99
	})
	b.want(0)
	c.want(0)
	until(t, "all but the floors", 10*time.Second, func() bool { return about(a.Part(), 0.9) })
	for _, p := range all[1:] {
		p.want(50)
	}
	until(t, "a third each again", 10*time.Second, func() bool { return about(b.Part(), 1./3) && about(c.Part(), 1./3) })

	w.stop(true)
	a.kill()
	time.Sleep(lease + grace + 6*beat)
	if got := b.Part() + c.Part(); got > 0.75 {
		t.Errorf("%v is given out while the dead one's records are not committed", got)
	}
	w.stop(false)
	until(t, "the dead one's part is given out", 10*time.Second, func() bool { return b.Part()+c.Part() > 0.99 })
	if !b.told(sharelog.Reclaimed) && !c.told(sharelog.Reclaimed) {
		t.Error("nobody told that a part was reclaimed")
	}
	w.check(t)
}

func TestLeaveWithRecordsOutstanding(t *testing.T) { inVirtualTime(t, testLeaveWithRecordsOutstanding) }

func testLeaveWithRecordsOutstanding(t *testing.T, cluster *cluster, w *world) {
	a, b := start(t, cluster, w, "a", 50), start(t, cluster, w, "b", 50)
	until(t, "half each", 10*time.Second, func() bool { return about(a.Part(), 0.5) && about(b.Part(), 0.5) })
	w.stop(true)
	until(t, "the bound is used up", 10*time.Second, func() bool { lag, _ := w.lag(); return lag > records*9/10 })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := a.Leave(ctx); err != nil {
		t.Fatal(err)
	}
	time.Sleep(6 * beat)
	if b.Part() > 0.6 {
		t.Errorf("part %v while the other's records are not committed", b.Part())
	}
	w.stop(false)
	until(t, "the other has all", 10*time.Second, func() bool { return b.Part() > 0.99 })
	w.check(t)
}

func TestABoundThatIsNotGiven(t *testing.T) { inVirtualTime(t, testABoundThatIsNotGiven) }

func testABoundThatIsNotGiven(t *testing.T, cluster *cluster, w *world) {
	var all []*process
	for _, name := range []string{"a", "b"} {
		cfg := config(cluster, w, name)
		cfg.Records = 0
		all = append(all, startWith(t, cfg, w, 50))
	}
	a, b := all[0], all[1]
	until(t, "half each", 10*time.Second, func() bool { return about(a.Part(), 0.5) && about(b.Part(), 0.5) })
	a.want(0)
	until(t, "all but the floor", 10*time.Second, func() bool { return about(b.Part(), 0.95) })
	if err := a.Leave(t.Context()); err != nil {
		t.Fatal(err)
	}
	if a.Part() != 0 {
		t.Errorf("part %v after leaving", a.Part())
	}
	until(t, "the other has all", 10*time.Second, func() bool { return b.Part() > 0.99 })
	if b.told(sharelog.Reclaimed) {
		t.Error("the part had to be reclaimed")
	}
	w.check(t)
}

func TestAProcessThatIsNotHeardFencesItself(t *testing.T) {
	inVirtualTime(t, testAProcessThatIsNotHeardFencesItself)
}

func testAProcessThatIsNotHeardFencesItself(t *testing.T, cluster *cluster, w *world) {
	a := start(t, cluster, w, "a", 50)
	until(t, "it has all", 10*time.Second, func() bool { return a.Part() > 0.99 })
	release := make(chan struct{})
	cluster.ControlKey(int16(kmsg.Produce), func(kmsg.Request) (kmsg.Response, error, bool) {
		cluster.SleepControl(func() { <-release })
		return nil, nil, false
	})
	begun := time.Now()
	until(t, "it is fenced", lease, func() bool { return a.Part() == 0 })
	if took := time.Since(begun); took < lease/2 {
		t.Errorf("fenced after %v, long before its lease of %v ends", took, lease)
	}
	until(t, "it tells so", 4*beat, func() bool { return a.told(sharelog.Fenced) })
	time.Sleep(4 * beat)
	if a.Part() != 0 {
		t.Errorf("part %v while nobody hears it", a.Part())
	}
	close(release)
	until(t, "it carries on", 10*time.Second, func() bool { return a.Part() > 0.99 })
	if !a.told(sharelog.Renewed) || a.told(sharelog.Expelled) {
		t.Error("it did not tell that its part was renewed")
	}
	w.check(t)
}

func TestAProcessThatWasGivenUpJoinsAnew(t *testing.T) {
	inVirtualTime(t, testAProcessThatWasGivenUpJoinsAnew)
}

func testAProcessThatWasGivenUpJoinsAnew(t *testing.T, cluster *cluster, w *world) {
	net := wire{network: cluster.network}
	var fenced atomic.Int64
	cfg := config(cluster, w, "a")
	cfg.Client, cfg.OnFenced = []kgo.Opt{kgo.Dialer(net.dial)}, func() { fenced.Add(1) }
	a := startWith(t, cfg, w, 50)
	b := start(t, cluster, w, "b", 50)
	until(t, "half each", 10*time.Second, func() bool { return about(a.Part(), 0.5) && about(b.Part(), 0.5) })
	net.cut(true)
	until(t, "the other has all", 10*time.Second, func() bool {
		if b.Part() > 0.6 && a.Part() > 0 {
			t.Fatalf("parts %v and %v", a.Part(), b.Part())
		}
		return b.Part() > 0.99
	})
	net.cut(false)
	until(t, "half each again", 10*time.Second, func() bool { return about(a.Part(), 0.5) && about(b.Part(), 0.5) })
	if !a.told(sharelog.Fenced) || !a.told(sharelog.Expelled) || fenced.Load() < 2 {
		t.Error("it did not tell what happened to it")
	}
	w.check(t)
}

func TestTheLogIsCut(t *testing.T) { inVirtualTime(t, testTheLogIsCut) }

func testTheLogIsCut(t *testing.T, cluster *cluster, w *world) {
	a, b := start(t, cluster, w, "a", 50), start(t, cluster, w, "b", 50)
	fill(t, cluster, shares.SnapshotEvery)
	until(t, "the log is cut", 10*time.Second, func() bool { return cluster.PartitionInfo(topic, 0).LogStartOffset > 0 })
	c := start(t, cluster, w, "c", 50)
	until(t, "a third each", 10*time.Second, func() bool {
		return about(a.Part(), 1./3) && about(b.Part(), 1./3) && about(c.Part(), 1./3)
	})
	w.check(t)
}

func fill(t *testing.T, cluster *cluster, n int) {
	t.Helper()
	client, err := cluster.client(kgo.DefaultProduceTopic(topic))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for range n {
		client.Produce(t.Context(), kgo.StringRecord("not ours"), nil)
	}
	if err := client.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestAForeignTransactionEndsNothing(t *testing.T) {
	inVirtualTime(t, testAForeignTransactionEndsNothing)
}

func testAForeignTransactionEndsNothing(t *testing.T, cluster *cluster, w *world) {
	a, b := start(t, cluster, w, "a", 50), start(t, cluster, w, "b", 50)
	until(t, "half each", 10*time.Second, func() bool { return about(a.Part(), 0.5) && about(b.Part(), 0.5) })
	client, err := cluster.client(kgo.DefaultProduceTopic(topic), kgo.TransactionalID("foreign"))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if err := client.BeginTransaction(); err != nil {
		t.Fatal(err)
	}
	if err := client.ProduceSync(t.Context(), kgo.StringRecord("not ours")).FirstErr(); err != nil {
		t.Fatal(err)
	}
	if err := client.EndTransaction(t.Context(), kgo.TryCommit); err != nil {
		t.Fatal(err)
	}
	c := start(t, cluster, w, "c", 50)
	until(t, "a third each", 10*time.Second, func() bool {
		return about(a.Part(), 1./3) && about(b.Part(), 1./3) && about(c.Part(), 1./3)
	})
	for _, p := range []*process{a, b} {
		if p.told(sharelog.Fenced) || p.told(sharelog.Expelled) || p.told(sharelog.Broken) {
			t.Errorf("a marker had a member told %v", p.kinds)
		}
	}
	w.check(t)
}

func TestALogWhoseBeginningIsLost(t *testing.T) {
	inVirtualTime(t, testALogWhoseBeginningIsLost, kfake.SeedTopics(1, topic))
}

func testALogWhoseBeginningIsLost(t *testing.T, cluster *cluster, w *world) {
	fill(t, cluster, 3)
	client, err := cluster.client()
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	var upTo kadm.Offsets
	upTo.AddOffset(topic, 0, 2, -1)
	if _, err := kadm.NewClient(client).DeleteRecords(t.Context(), upTo); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	begun := time.Now()
	_, err = sharelog.Join(ctx, config(cluster, w, "a"))
	if err == nil || !strings.Contains(err.Error(), "delete the topic") {
		t.Errorf("joined: %v", err)
	}
	if took := time.Since(begun); took < lease+grace {
		t.Errorf("given up after %v, when others could still be there", took)
	}
}

func TestALaterVersionBreaksTheMember(t *testing.T) {
	inVirtualTime(t, testALaterVersionBreaksTheMember)
}

func testALaterVersionBreaksTheMember(t *testing.T, cluster *cluster, w *world) {
	a := start(t, cluster, w, "a", 50)
	until(t, "it has all", 10*time.Second, func() bool { return a.Part() > 0.99 })
	client, err := cluster.client(kgo.DefaultProduceTopic(topic))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if err := client.ProduceSync(t.Context(), kgo.StringRecord(`{"v":2,"k":"gift"}`)).FirstErr(); err != nil {
		t.Fatal(err)
	}
	until(t, "it stops", 10*time.Second, func() bool { return a.Part() == 0 && a.told(sharelog.Broken) })
}

func TestJoinSaysWhatIsWrong(t *testing.T) {
	inVirtualTime(t, testJoinSaysWhatIsWrong, kfake.SeedTopics(2, "two"))
}

func testJoinSaysWhatIsWrong(t *testing.T, cluster *cluster, w *world) {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	cfg := config(cluster, w, "a")
	cfg.Topic = "two"
	if _, err := sharelog.Join(ctx, cfg); err == nil || !strings.Contains(err.Error(), "2 partitions") {
		t.Errorf("two partitions: %v", err)
	}
	_, err := sharelog.Join(ctx, sharelog.Config{Lease: time.Second})
	for _, want := range []string{"no brokers", "no topic", "no name", "four beats", "no source"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the faults lack %q: %v", want, err)
		}
	}
}

func TestAnotherMadeTheTopicMeanwhile(t *testing.T) {
	inVirtualTime(t, testAnotherMadeTheTopicMeanwhile, kfake.SeedTopics(1, topic))
}

func testAnotherMadeTheTopicMeanwhile(t *testing.T, cluster *cluster, w *world) {
	missing := cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Metadata}, Topic: topic, Err: kerr.UnknownTopicOrPartition})
	creates := cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.CreateTopics}, Observe: true, Count: -1})
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	a, err := sharelog.Join(ctx, config(cluster, w, "a"))
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if missing.Hits() != 1 || creates.Hits() != 1 {
		t.Errorf("the topic was missing %d times and made %d times, want once each", missing.Hits(), creates.Hits())
	}
}

// Join fails at once if it lacks a permission, and when its context ends if no broker answers.
func TestATopicThatCannotBeOpened(t *testing.T) {
	for _, c := range []struct {
		name  string
		key   kmsg.Key
		topic string
		err   *kerr.Error
		after time.Duration
	}{
		{"may not be seen", kmsg.Metadata, topic, kerr.TopicAuthorizationFailed, 0},
		{"may not be made", kmsg.CreateTopics, topic, kerr.TopicAuthorizationFailed, 0},
		{"cannot be made yet", kmsg.CreateTopics, topic, kerr.InvalidReplicationFactor, 950 * time.Millisecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, cluster *cluster, w *world) {
				cluster.Fault(kfake.Fault{Keys: []kmsg.Key{c.key}, Topic: c.topic, Err: c.err, Count: -1})
				ctx, cancel := context.WithTimeout(t.Context(), 950*time.Millisecond)
				defer cancel()
				begun := time.Now()
				_, err := sharelog.Join(ctx, config(cluster, w, "a"))
				if took := time.Since(begun); took != c.after || !errors.Is(err, c.err) {
					t.Errorf("joining ended after %v, want %v: %v", took, c.after, err)
				}
				if ended := errors.Is(err, context.DeadlineExceeded); ended != (c.after > 0) {
					t.Errorf("the error speaks of the context: %t: %v", ended, err)
				}
			})
		})
	}
}
