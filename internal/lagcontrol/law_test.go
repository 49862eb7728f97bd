package lagcontrol_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"kafkabench.example/kafka-bench/internal/lagcontrol"
	"kafkabench.example/kafka-bench/internal/load/controller"
)

type window struct{ bound int64 }

func (w *window) Decide(o lagcontrol.Observation) lagcontrol.Decision {
	bound := int64(o.Share * float64(w.bound))
	return lagcontrol.Decision{Ceiling: o.Settled + max(0, bound-o.Lag), Bound: bound}
}

func (w *window) Limit() int64 { return w.bound }

// bounded returns a window (the law itself), or another controller with the bound as its limit.
func bounded(t *rapid.T, bound int64) lagcontrol.Controller {
	var c lagcontrol.Controller
	var err error
	switch name := rapid.SampledFrom([]string{"window", "credit", "latency", "aimd", "gradient"}).Draw(t, "controller"); name {
	case "window":
		c = &window{bound}
	case "credit":
		c, err = lagcontrol.NewCredit(bound)
	case "latency":
		c, err = lagcontrol.NewLatency(lagcontrol.LatencyConfig{Target: time.Second, MaxLag: bound})
	case "aimd":
		c, err = controller.NewAIMD(controller.AIMDConfig{Target: time.Second, MaxLag: bound})
	case "gradient":
		c, err = controller.NewGradient(controller.GradientConfig{MaxLag: bound})
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

const (
	simulatedTopic = "t"
	simulatedDoubt = time.Second
	// not shorter than the doubt: a record in doubt may still be under way
	simulatedInherit = simulatedDoubt
)

type state int

const (
	sent state = iota // in flight: it may be appended or fail
	appended
	given // given up by its client while in flight: it may be appended while now < until
)

type simulated struct {
	gate      int
	dead      bool
	partition int32
	offset    int64
	state     state
	until     time.Duration
}

// looking is a reading under way: partition by partition, committed offsets first.
type looking struct {
	gate    int
	strays  int
	asked   *lagcontrol.Gate // not its successor
	mark    lagcontrol.Mark
	step    int
	reading lagcontrol.Reading
}

// plant is a topic, its consumers and its producers, with events in any order.
type plant struct {
	now       time.Duration
	end       []int64
	owner     [][]int // by partition and offset: the gate of the record
	committed []int64
	flying    []simulated
	looks     []*looking
	gates     []*lagcontrol.Gate
	late      bool // marks are taken after the reading: wrong on purpose
	strays    []stray
	seen      []int // by gate: the number of strays when its last reading began
}

// stray is a record of a killed process that was appended after its successor's gate was made.
type stray struct {
	gate      int
	partition int32
	offset    int64
}

func newPlant(partitions int) *plant {
	return &plant{end: make([]int64, partitions), committed: make([]int64, partitions), owner: make([][]int, partitions)}
}

func (p *plant) lag(partition int) int64 { return p.end[partition] - p.committed[partition] }

func (p *plant) total() int64 {
	var sum int64
	for i := range p.end {
		sum += p.lag(i)
	}
	return sum
}

func (p *plant) admit(t *rapid.T) {
	gate := rapid.IntRange(0, len(p.gates)-1).Draw(t, "gate")
	partition := int32(rapid.IntRange(0, len(p.end)-1).Draw(t, "partition"))
	for range p.gates[gate].Admit(rapid.Int64Range(1, 30).Draw(t, "n")) {
		p.flying = append(p.flying, simulated{gate: gate, partition: partition})
	}
}

func (p *plant) pick(t *rapid.T, states ...state) int {
	var of []int
	for i, r := range p.flying {
		for _, s := range states {
			if r.state == s {
				of = append(of, i)
			}
		}
	}
	if len(of) == 0 {
		return -1
	}
	return rapid.SampledFrom(of).Draw(t, "record")
}

func (p *plant) forget(i int) {
	p.flying[i] = p.flying[len(p.flying)-1]
	p.flying = p.flying[:len(p.flying)-1]
}

func (p *plant) append(t *rapid.T) {
	for range rapid.IntRange(1, 20).Draw(t, "records") {
		i := p.pick(t, sent, given)
		if i < 0 {
			return
		}
		r := &p.flying[i]
		r.offset = p.end[r.partition]
		p.end[r.partition]++
		p.owner[r.partition] = append(p.owner[r.partition], r.gate)
		if r.dead {
			p.strays = append(p.strays, stray{r.gate, r.partition, r.offset})
		}
		if r.state == given {
			p.forget(i)
		} else {
			r.state = appended
		}
	}
}

func (p *plant) ack(t *rapid.T) {
	for range rapid.IntRange(1, 20).Draw(t, "records") {
		i := p.pick(t, appended)
		if i < 0 {
			return
		}
		r := p.flying[i]
		p.gates[r.gate].Acked(simulatedTopic, r.partition, r.offset)
		p.gates[r.gate].Done(1)
		p.forget(i)
	}
}

func (p *plant) fail(t *rapid.T) {
	if i := p.pick(t, sent); i >= 0 {
		p.gates[p.flying[i].gate].Done(1)
		p.forget(i)
	}
}

func (p *plant) giveUp(t *rapid.T) {
	i := p.pick(t, sent, appended)
	if i < 0 {
		return
	}
	r := &p.flying[i]
	p.gates[r.gate].Unsure(1)
	if r.state == appended {
		p.forget(i)
		return
	}
	r.state, r.until = given, p.now+simulatedDoubt
}

func (p *plant) commit(t *rapid.T) {
	i := rapid.IntRange(0, len(p.end)-1).Draw(t, "partition")
	p.committed[i] += rapid.Int64Range(0, p.lag(i)).Draw(t, "records")
}

func (p *plant) look(t *rapid.T) {
	if len(p.looks) > 3 {
		return
	}
	gate := rapid.IntRange(0, len(p.gates)-1).Draw(t, "gate")
	l := &looking{gate: gate, asked: p.gates[gate], strays: len(p.strays)}
	l.reading.Partitions = make([]lagcontrol.Partition, len(p.end))
	if !p.late {
		l.mark = l.asked.Mark()
	}
	p.looks = append(p.looks, l)
}

func (p *plant) goOn(t *rapid.T) {
	for range rapid.IntRange(1, 6).Draw(t, "steps") {
		if len(p.looks) == 0 {
			return
		}
		at := rapid.IntRange(0, len(p.looks)-1).Draw(t, "reading")
		l, n := p.looks[at], len(p.end)
		switch step := l.step; {
		case step < n:
			l.reading.Partitions[step] = lagcontrol.Partition{Topic: simulatedTopic, ID: int32(step), Committed: p.committed[step]}
		case step < 2*n:
			l.reading.Partitions[step-n].End = p.end[step-n]
		default:
			if p.late {
				l.mark = l.asked.Mark()
			}
			l.asked.Report(l.mark, l.reading)
			if p.seen != nil {
				p.seen[l.gate] = max(p.seen[l.gate], l.strays)
			}
			p.looks = append(p.looks[:at], p.looks[at+1:]...)
		}
		l.step++
	}
}

func (p *plant) pass(t *rapid.T) {
	p.now += time.Duration(rapid.IntRange(1, int(simulatedDoubt/time.Millisecond)).Draw(t, "ms")) * time.Millisecond
	for i := 0; i < len(p.flying); {
		if r := p.flying[i]; r.state == given && r.until <= p.now {
			p.forget(i)
		} else {
			i++
		}
	}
	for _, g := range p.gates {
		g.Advance()
	}
}

// kill starts a process again with a new gate. While that gate inherits, the broker may still
// append the dead process's records.
func (p *plant) kill(t *rapid.T, restarted func() *lagcontrol.Gate) {
	gate := rapid.IntRange(0, len(p.gates)-1).Draw(t, "gate")
	p.looks = slices.DeleteFunc(p.looks, func(l *looking) bool { return l.gate == gate })
	for i := len(p.flying) - 1; i >= 0; i-- {
		switch r := &p.flying[i]; {
		case r.gate != gate || r.dead:
		case r.state == appended:
			p.forget(i)
		default:
			r.state, r.dead, r.until = given, true, p.now+simulatedInherit
		}
	}
	p.gates[gate], p.seen[gate] = restarted(), len(p.strays)
}

func (p *plant) used(gate int) (n int64) {
	for i, owners := range p.owner {
		for _, owner := range owners[p.committed[i]:] {
			if owner == gate {
				n++
			}
		}
	}
	for _, r := range p.flying {
		if r.gate == gate && !r.dead && r.state != appended {
			n++
		}
	}
	return n - p.strayed(p.strays[p.seen[gate]:], gate)
}

// strayed returns how many strays of a gate are not committed; of all gates if gate is -1.
func (p *plant) strayed(of []stray, gate int) (n int64) {
	for _, s := range of {
		if (gate < 0 || s.gate == gate) && s.offset >= p.committed[s.partition] {
			n++
		}
	}
	return n
}

func (p *plant) run(t *rapid.T, holds func() error) {
	p.runWith(t, holds, nil)
}

func (p *plant) runWith(t *rapid.T, holds func() error, more map[string]func(*rapid.T)) {
	actions := map[string]func(*rapid.T){
		"admit": p.admit, "append": p.append, "ack": p.ack, "fail": p.fail, "give up": p.giveUp,
		"commit": p.commit, "look": p.look, "go on": p.goOn, "pass": p.pass,
		"": func(t *rapid.T) {
			if err := holds(); err != nil {
				t.Fatal(err)
			}
		},
	}
	maps.Copy(actions, more)
	for range 10 {
		t.Repeat(actions)
	}
}

func (p *plant) config(c lagcontrol.Controller, s lagcontrol.Share) lagcontrol.Config {
	return lagcontrol.Config{Controller: c, Share: s, Inherit: lagcontrol.NoInherit, Doubt: simulatedDoubt, Now: func() time.Duration { return p.now }}
}

func within(lag, bound int64) error {
	if lag > bound {
		return fmt.Errorf("the lag is %d, the bound %d", lag, bound)
	}
	return nil
}

func TestTheLagNeverPassesTheBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, bound := newPlant(rapid.IntRange(1, 3).Draw(t, "partitions")), rapid.Int64Range(1, 60).Draw(t, "bound")
		p.gates = []*lagcontrol.Gate{newGate(t, p.config(bounded(t, bound), lagcontrol.Share{}))}
		p.run(t, func() error { return within(p.total(), bound) })
	})
}

func TestTheSumOfSharesNeverPassesTheBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, bound := newPlant(rapid.IntRange(1, 3).Draw(t, "partitions")), rapid.Int64Range(4, 80).Draw(t, "bound")
		n := rapid.IntRange(1, 4).Draw(t, "gates")
		for range n {
			p.gates = append(p.gates, newGate(t, p.config(bounded(t, bound), lagcontrol.Fixed(1/float64(n)))))
		}
		p.run(t, func() error { return within(p.total(), bound) })
	})
}

// The bound holds, except for records of dead processes that are appended later.
func TestARestartedProcessKeepsItsPartOfTheBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, bound := newPlant(rapid.IntRange(1, 2).Draw(t, "partitions")), rapid.Int64Range(4, 80).Draw(t, "bound")
		n := rapid.IntRange(1, 3).Draw(t, "gates")
		restarted := func() *lagcontrol.Gate {
			cfg := p.config(bounded(t, bound), lagcontrol.Fixed(1/float64(n)))
			cfg.Inherit = simulatedInherit
			return newGate(t, cfg)
		}
		for range n {
			p.gates = append(p.gates, restarted())
		}
		p.seen = make([]int, n)
		part := int64(float64(bound) / float64(n))
		p.runWith(t, func() error { return within(p.total(), bound+p.strayed(p.strays, -1)) }, map[string]func(*rapid.T){
			"kill": func(t *rapid.T) { p.kill(t, restarted) },
			"admit": func(t *rapid.T) {
				before := len(p.flying)
				p.admit(t)
				if len(p.flying) == before {
					return
				}
				if gate := p.flying[before].gate; p.used(gate) > part {
					t.Fatalf("gate %d admitted up to %d of its %d records", gate, p.used(gate), part)
				}
			},
		})
	})
}

func TestTheSimulationFindsALateMark(t *testing.T) {
	const bound = 20
	found := false
	try := rapid.Custom(func(t *rapid.T) bool {
		p := newPlant(2)
		p.late = true
		p.gates = []*lagcontrol.Gate{newGate(t, p.config(&window{bound}, lagcontrol.Share{}))}
		p.run(t, func() error { found = found || p.total() > bound; return nil })
		return found
	})
	for seed := 0; seed < 500 && !found; seed++ {
		try.Example(seed)
	}
	if !found {
		t.Error("it did not")
	}
}

func TestAMarkAfterTheReadingBreaksTheBound(t *testing.T) {
	const bound = 10
	for _, late := range []bool{false, true} {
		gate := newGate(t, lagcontrol.Config{Controller: &window{bound}})
		report(gate, lagcontrol.Reading{})
		inLog := gate.Admit(bound)

		mark := gate.Mark()
		reading := lagcontrol.Reading{Lag: 0} // requested before the records came into the log
		gate.Done(inLog)
		if late {
			mark = gate.Mark()
		}
		gate.Report(mark, reading)
		inLog += gate.Admit(bound)
		if broken := inLog > bound; broken != late {
			t.Errorf("mark taken late: %v; %d records in the log and none committed, the bound is %d", late, inLog, bound)
		}
	}
}
