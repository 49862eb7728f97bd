//go:build proof

package crash

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/kafka/cluster/clustertest"
)

// tuned makes Kafka remove members, end locks and declare brokers dead as fast as the fake cluster.
var tuned = map[string]string{
	"group.min.session.timeout.ms":            "500",
	"group.share.min.session.timeout.ms":      "1000",
	"group.share.session.timeout.ms":          "1500",
	"group.share.min.heartbeat.interval.ms":   "200",
	"group.share.heartbeat.interval.ms":       "200",
	"group.share.min.record.lock.duration.ms": "1000",
	"group.share.record.lock.duration.ms":     "1500",
	"group.share.delivery.count.limit":        "10",
	"broker.session.timeout.ms":               "3000",
	"broker.heartbeat.interval.ms":            "500",
	"replica.lag.time.max.ms":                 "3000",
}

// TestRealBrokers breaks brokers and processes of queues on three brokers of Apache Kafka with three replicas of each
// record. It kills a broker and a process of the engines markers and offsetmap; with -brokers it does more.
func TestRealBrokers(t *testing.T) {
	t.Parallel()
	k := clustertest.Own(t, 3, tuned)
	var site site
	for _, w := range ways {
		if !strings.Contains(w.name, *onlyWay) || !*brokers && w.name != "markers" && w.name != "offsetmap" {
			continue
		}
		v := newWorld(t, k, 3, w.way)
		v.launch = v.process
		v.spec.Session, v.spec.Heartbeat = 3*time.Second, 300*time.Millisecond
		site = append(site, &station{world: v, crew: &crew{world: v, way: w.way}})
	}
	for _, s := range site {
		s.open()
	}
	site.disturb(t, "a broker is killed", func() {
		b := k.Brokers()[0]
		b.Kill()
		time.Sleep(4 * time.Second)
		restart(t, b)
	})
	site.disturb(t, "processes are killed", func() {
		for _, s := range site {
			s.replace(t)
		}
	})
	if *brokers {
		site.disturbMore(t, k)
	}
	for _, s := range site {
		s.world.settle(2 * time.Minute)
		s.close(t)
		s.world.probe()
		s.world.audit()
		if s.crew.way.engine == markersEngine {
			s.world.markersLieBeside()
		}
		t.Logf("%s: %s", s.crew.way.name, s.world.summary())
	}
}

// Markers have the same replicas as their records, in the same order, and so the same preferred leader.
func (v *world) markersLieBeside() {
	v.t.Helper()
	all, err := v.admin.ListTopics(soon(v.t), v.spec.Topic, v.spec.Topic+"-markers")
	if err != nil {
		v.t.Fatal(err)
	}
	for p, records := range all[v.spec.Topic].Partitions {
		if markers := all[v.spec.Topic+"-markers"].Partitions[p]; !slices.Equal(records.Replicas, markers.Replicas) {
			v.t.Errorf("partition %d: records on brokers %v, markers on %v", p, records.Replicas, markers.Replicas)
		}
	}
}

func (s site) disturbMore(t *testing.T, k *cluster.Kafka) {
	s.disturb(t, "a broker is stopped where it stands", func() {
		b := k.Brokers()[1]
		if err := b.Pause(); err != nil {
			t.Error(err)
		}
		time.Sleep(7 * time.Second)
		if err := b.Resume(); err != nil {
			t.Error(err)
		}
	})
	s.disturb(t, "brokers are restarted one after the other", func() {
		for _, b := range k.Brokers() {
			ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
			if err := b.Stop(ctx); err != nil {
				t.Error(err)
			}
			cancel()
			restart(t, b)
			time.Sleep(2 * time.Second)
		}
	})
	s.disturb(t, "processes are stopped until they count as dead", func() {
		for _, one := range s {
			one.each(t, (*process).stop)
			one.world.broken += 2
		}
		time.Sleep(12 * time.Second)
		for _, one := range s {
			one.each(t, (*process).resume)
		}
	})
	s.disturb(t, "members join and leave every second", func() {
		for range 6 {
			for _, one := range s {
				one.churn(t)
			}
			time.Sleep(time.Second)
		}
	})
}

func restart(t *testing.T, b *cluster.Broker) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	if err := b.Start(ctx); err != nil {
		t.Error(err)
	}
}

type station struct {
	*crew
	world *world
	other worker
	extra worker
}

type site []*station

func (s *station) open() {
	s.keep(&s.steady, roleQueue, true)
	s.keep(&s.tracker, roleTracker, s.way.external)
	s.keep(&s.other, roleQueue, true)
}

func (s *station) close(t *testing.T) {
	for _, p := range []*worker{&s.extra, &s.other, &s.steady} {
		s.keep(p, roleQueue, false)
	}
	s.keep(&s.tracker, roleTracker, false)
}

func (s *station) each(t *testing.T, do func(*process) error) {
	for _, w := range []worker{s.other, s.tracker} {
		if w == nil {
			continue
		}
		p := w.(*process)
		if err := do(p); err != nil {
			t.Errorf("%s: %v", p.name, err)
		}
	}
}

func (s *station) replace(t *testing.T) {
	s.each(t, func(p *process) error {
		s.world.broken++
		err := p.cmd.Process.Signal(syscall.SIGKILL)
		<-p.gone
		return err
	})
	s.other, s.tracker = nil, nil
	s.open()
}

func (s *station) churn(*testing.T) {
	s.keep(&s.extra, roleQueue, s.extra == nil)
}

func (s site) disturb(t *testing.T, what string, do func()) {
	t.Helper()
	began := time.Now()
	stops := make([]func() error, len(s))
	for i, one := range s {
		stops[i] = one.world.feed(100)
	}
	do()
	for i, one := range s {
		v := one.world
		before := v.book.done()
		if !v.await(func() bool { return v.book.done() >= before+30 }, time.Minute) {
			t.Errorf("STUCK: %s, after %s: only %d records were processed in a minute\n%s", one.way.name, what, v.book.done()-before, one.said())
		}
		if err := stops[i](); err != nil {
			t.Error(err)
		}
		v.probe()
	}
	t.Logf("%s: %v", what, time.Since(began).Round(time.Second))
	if t.Failed() {
		t.FailNow()
	}
}

func (s *station) said() string {
	var all string
	for _, w := range []worker{s.steady, s.other, s.tracker} {
		if w != nil {
			all += fmt.Sprintln(w)
		}
	}
	return all
}
