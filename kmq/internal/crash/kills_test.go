package crash

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"

	"kafkabench.example/kafka-bench/kmq/internal/step"
)

var ways = []struct {
	way
	steps []step.Step
}{
	{way{name: "plain", engine: plainEngine}, []step.Step{
		step.Polled, step.Handed, step.Acked, step.Committed, step.BeforeCopy, step.Copied, step.Revoking, step.Flushed,
	}},
	{way{name: "markers", engine: markersEngine}, step.All},
	{way{name: "markers external", engine: markersEngine, external: true}, step.All},
	{way{name: "offsetmap", engine: offsetMapEngine}, []step.Step{
		step.Polled, step.Handed, step.Acked, step.Committed, step.BeforeCopy, step.Copied, step.CopyEnded, step.Revoking, step.Flushed,
	}},
	{way{name: "share", engine: shareEngine}, []step.Step{
		step.Polled, step.Handed, step.Acked, step.Ended, step.BeforeCopy, step.Copied, step.CopyEnded,
	}},
}

// The first kill hits the only member, the others a member beside one that takes over.
const killsAStep = 3

// The ways run one after another, since the hook of the steps is global.
func TestInvariant1AtLeastOnce(t *testing.T) {
	for _, w := range ways {
		if !strings.Contains(w.name, *onlyWay) || quick && w.name != w.engine {
			continue
		}
		t.Run(w.name, func(t *testing.T) {
			for _, s := range w.steps {
				t.Run(string(s), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						newWorld(t, fake(t, 3), 3, w.way).campaign(w.way, []step.Step{s}, max(killsAStep, *kills/len(w.steps)))
					})
				})
			}
		})
	}
}

func often(s step.Step, rng *rand.Rand) int {
	switch s {
	case step.Polled, step.Started, step.Committed, step.Copied, step.BeforeCopy, step.CopyEnded:
		return 1 + rng.IntN(3)
	case step.Revoking, step.Flushed:
		return 1
	default:
		return 1 + rng.IntN(20)
	}
}

// patience bounds the wait for a step; then the process is killed anyway.
const patience = 15 * time.Second

func (v *world) campaign(w way, steps []step.Step, times int) {
	t := v.t
	began := time.Now()
	rng := rand.New(rand.NewPCG(*killsSeed, uint64(len(w.name))))
	stopFeeding := v.feed(100)
	missed := make(map[step.Step]int)
	crew := &crew{world: v, way: w}
	for i := range times {
		s := steps[i%len(steps)]
		round := i/len(steps) + i%len(steps)
		if !crew.killAt(s, often(s, rng), round) {
			missed[s]++
		}
		v.probe()
		if t.Failed() {
			break
		}
	}
	for s := range missed {
		for tries := 0; v.book.kills[string(s)] == 0 && tries < 3 && !t.Failed(); tries++ {
			crew.killAt(s, 1, tries)
			v.probe()
		}
	}
	if err := stopFeeding(); err != nil {
		t.Error(err)
	}
	crew.finish()
	v.probe()
	v.audit()
	crew.handedOn()
	v.nothingLeft(w)
	t.Logf("%s in %v: %s; steps reached by those that closed: %s", w.name, time.Since(began).Round(time.Second), v.summary(), sorted(v.book.reached))
	for s, n := range missed {
		t.Logf("%d processes did not come to the step %q within %v, and were killed elsewhere", n, s, patience)
	}
	for _, s := range steps[:min(len(steps), times)] {
		if v.book.kills[string(s)] == 0 {
			t.Errorf("nothing was killed at the step %q", s)
		}
	}
}

type crew struct {
	world   *world
	way     way
	steady  worker
	tracker worker
	careful bool
	victims []childSpec
}

var trackerOnly = []step.Step{step.BeforeCopy, step.Copied, step.CopyEnded}

// killAt reports whether the process died at occurrence n of the step.
func (c *crew) killAt(s step.Step, n, round int) bool {
	v := c.world
	victim := v.child("victim")
	victim.Kill, victim.KillAt = s, n
	victim.Queue.Session += time.Duration(v.broken) * time.Millisecond // see keep
	rebalance := s == step.Revoking || s == step.Flushed
	asTracker := c.way.external && slices.Contains(trackerOnly, s)
	if asTracker {
		victim.Role = roleTracker
	}
	// Every third victim is alone: its successor finds its state.
	alone := rebalance || round%3 == 0
	c.keep(&c.steady, roleQueue, asTracker || !alone)
	c.keep(&c.tracker, roleTracker, c.way.external && (!asTracker || !alone))
	p := v.launch(victim)
	if rebalance {
		v.await(func() bool { return v.book.count(victim.Name, lineDelivered) > 0 }, patience)
		c.keep(&c.steady, roleQueue, true)
	}
	there := p.ended(patience)
	p.kill()
	v.broken++
	if !there && *verbose {
		v.t.Logf("it did not come to the step %q: %s", s, p)
		if c.steady != nil {
			v.t.Logf("beside it: %s", c.steady)
		}
	}
	if there && !p.killed() {
		v.t.Errorf("it ended by itself: %s", p)
	}
	if there {
		c.victims = append(c.victims, victim)
	}
	return there
}

var behindDelivery = []step.Step{step.Acked, step.Ended, step.BeforeCopy, step.Copied, step.CopyEnded, step.Revoking, step.Flushed}

// Another process must have received open records of a victim.
func (c *crew) handedOn() {
	v, died, handed := c.world, 0, 0
	v.t.Helper()
	for _, victim := range c.victims {
		if victim.Role == roleQueue && slices.Contains(behindDelivery, victim.Kill) {
			died++
			handed += v.book.handedOn(victim)
		}
	}
	if died > 0 && handed == 0 {
		v.t.Errorf("nothing that any of the %d killed had in hand was delivered to another", died)
	}
}

func (b *book) handedOn(killed childSpec) (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for number, f := range b.fates {
		last := slices.IndexFunc(f.deliveries, func(d delivery) bool {
			return d.by == killed.Name && !d.settled && killed.planned(number, d.attempt) != drop
		})
		if last >= 0 && slices.ContainsFunc(f.deliveries[last:], func(d delivery) bool { return d.by != killed.Name }) {
			n++
		}
	}
	return n
}

// keep starts or ends a process. Its session is longer than those of the killed processes, whose
// sessions grow, so that a dead member is removed before any member that waits for it. In virtual
// time, sessions that begin together would also end together; then kfake ends the session of a
// member that waits in JoinGroup or SyncGroup, and never answers it.
func (c *crew) keep(p *worker, role string, run bool) {
	v := c.world
	switch {
	case run && *p == nil:
		spec := v.child(role)
		spec.Role, spec.Careful = role, c.careful
		spec.Queue.Session *= 2
		*p = v.launch(spec)
		v.await(func() bool { return v.book.count(spec.Name, lineOpened) > 0 }, patience)
	case !run && *p != nil:
		if err := (*p).close(); err != nil {
			v.t.Error(err)
		}
		*p = nil
	}
}

func (c *crew) finish() {
	v := c.world
	c.keep(&c.steady, roleQueue, false)
	c.keep(&c.tracker, roleTracker, c.way.external)
	var second worker
	c.careful = true
	c.keep(&c.steady, roleQueue, true)
	c.keep(&second, roleQueue, true)
	v.settle(2 * time.Minute)
	if c.way.engine == shareEngine {
		v.accepted(2 * time.Minute)
	} else {
		v.calm(v.spec.Visibility + time.Second)
	}
	c.keep(&second, roleQueue, false)
	c.keep(&c.steady, roleQueue, false)
	c.keep(&c.tracker, roleTracker, false)
}

// accepted waits until a share group has no open record. A pause in deliveries is not enough: a removed member's
// acknowledgements are refused until it has rejoined. A partition of the retry topic that never had a record has no
// offset of the group.
func (v *world) accepted(within time.Duration) {
	v.t.Helper()
	var open kadm.ShareOffsets
	if !v.await(func() bool {
		described, err := v.admin.DescribeShareGroupOffsets(soon(v.t), v.spec.Group)
		if err != nil {
			return false
		}
		open = described[v.spec.Group].Offsets
		ends, err := v.admin.ListEndOffsets(soon(v.t), v.spec.retryTopic())
		if err != nil {
			return false
		}
		for p := range v.spec.Partitions {
			for _, topic := range []string{v.spec.Topic, v.spec.retryTopic()} {
				end, is := ends.Lookup(topic, p)
				if is && end.Err == nil && end.Offset == 0 {
					continue
				}
				if o, known := open.Lookup(topic, p); !known || o.Err != nil || o.Lag != 0 {
					return false
				}
			}
		}
		return true
	}, within) {
		v.t.Errorf("records are processed and not accepted: %+v", open)
	}
}

func (v *world) calm(d time.Duration) {
	v.t.Helper()
	for over := time.Now().Add(time.Minute); time.Now().Before(over); {
		if err := v.book.read(); err != nil {
			v.t.Fatal(err)
		}
		before := v.book.lines[lineDelivered]
		if !v.await(func() bool { return v.book.lines[lineDelivered] > before }, d) {
			return
		}
	}
	v.t.Errorf("records are delivered again and again, though all are settled")
}

func (v *world) await(what func() bool, within time.Duration) bool {
	for deadline := time.Now().Add(within); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if err := v.book.read(); err != nil {
			v.t.Error(err)
			return false
		}
		if what() {
			return true
		}
	}
	return false
}

func (v *world) nothingLeft(w way) {
	v.t.Helper()
	c := &crew{world: v, way: w}
	c.keep(&c.tracker, roleTracker, w.external)
	spec := v.child("last")
	p := v.launch(spec)
	v.await(func() bool { return v.book.count(spec.Name, lineOpened) > 0 }, patience)
	time.Sleep(v.spec.Visibility + 2*time.Second)
	if err := p.close(); err != nil {
		v.t.Error(err)
	}
	c.keep(&c.tracker, roleTracker, false)
	v.await(func() bool { return v.book.count(spec.Name, lineClosed) > 0 }, patience)
	if n := v.book.count(spec.Name, lineDelivered); n > 0 {
		v.t.Errorf("after everything was settled and closed in order, %d records were delivered again: %s", n, fmt.Sprint(v.deliveredBy(spec.Name)))
	}
}

func (v *world) deliveredBy(name string) []int {
	var numbers []int
	for n, f := range v.book.fates {
		if slices.ContainsFunc(f.deliveries, func(d delivery) bool { return d.by == name }) {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	return numbers[:min(len(numbers), 10)]
}
