package scenario

import (
	"fmt"

	"kafkabench.example/kafka-bench/internal/plan/unit"
)

// A party are those of one kind whom faults befall, the consumers of the group or
// the brokers, as the faults so far have left them.
type party struct {
	kind  string // as a Target says it
	first int    // the number of the first: consumers count from 0, brokers from 1
	who   []fate
}

// A fate is what has become of one of them.
type fate struct {
	state state
	back  unit.Duration // when it runs again by itself; 0 is never
}

func newCrew(consumers int) *party {
	return &party{kind: ConsumerTarget, who: make([]fate, min(max(0, consumers), maxWorkers))}
}

func newBrokers(brokers int) *party {
	return &party{kind: BrokerTarget, first: 1, who: make([]fate, min(max(0, brokers), maxBrokers))}
}

// is tells what has become of number n, and whether there ever was one.
func (p *party) is(n int) (s state, known bool) {
	if n < p.first || n >= p.next() {
		return running, false
	}
	return p.who[n-p.first].state, true
}

// next is the number of the one who would join next.
func (p *party) next() int { return p.first + len(p.who) }

// set notes what f made of number n, a known one or the next.
func (p *party) set(n int, f ScheduledFault) {
	if n == p.next() {
		p.who = append(p.who, fate{})
	}
	back := unit.Duration(0)
	if f.For > 0 {
		back = f.At + f.For
	}
	p.who[n-p.first] = fate{effects[f.Action()].leaves, back}
}

// until lets those run again whose time has come by t.
func (p *party) until(t unit.Duration) {
	for i, f := range p.who {
		if f.back > 0 && f.back <= t {
			p.who[i] = fate{}
		}
	}
}

// count is how many are running.
func (p *party) count() (n int) {
	for _, f := range p.who {
		if f.state == running {
			n++
		}
	}
	return n
}

// numbers are those that there are, as people say them.
func (p *party) numbers() string {
	if len(p.who) == 1 {
		return fmt.Sprint(p.first)
	}
	return fmt.Sprintf("%d to %d", p.first, p.next()-1)
}
