package scenario

import (
	"fmt"

	"kafkabench.example/kafka-bench/internal/plan/unit"
)

// party is the state of all consumers, or all brokers, after the faults so far.
type party struct {
	kind  string
	first int // consumers count from 0, brokers from 1
	who   []fate
}

type fate struct {
	state state
	back  unit.Duration // when it runs again; 0 is never
}

func newCrew(consumers int) *party {
	return &party{kind: ConsumerTarget, who: make([]fate, min(max(0, consumers), maxWorkers))}
}

func newBrokers(brokers int) *party {
	return &party{kind: BrokerTarget, first: 1, who: make([]fate, min(max(0, brokers), maxBrokers))}
}

func (p *party) is(n int) (s state, known bool) {
	if n < p.first || n >= p.next() {
		return running, false
	}
	return p.who[n-p.first].state, true
}

func (p *party) next() int { return p.first + len(p.who) }

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

func (p *party) until(t unit.Duration) {
	for i, f := range p.who {
		if f.back > 0 && f.back <= t {
			p.who[i] = fate{}
		}
	}
}

func (p *party) count() (n int) {
	for _, f := range p.who {
		if f.state == running {
			n++
		}
	}
	return n
}

func (p *party) numbers() string {
	if len(p.who) == 1 {
		return fmt.Sprint(p.first)
	}
	return fmt.Sprintf("%d to %d", p.first, p.next()-1)
}
