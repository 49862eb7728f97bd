package remote

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"kafkabench.example/kafka-bench/internal/measure/snapshot"
)

// place is the process of the members with certain numbers. It starts with its first member and
// ends with its last.
type place struct {
	group  *Consumers
	number int

	mu      sync.Mutex
	process *Child // nil: none runs
	here    map[int]bool
	still   bool
}

var errStopped = errors.New("the group was stopped")

func (p *place) open(members []int, late bool) error {
	cs := p.group
	child, err := cs.cfg.Start(p.number)
	if err != nil {
		return err
	}
	p.process = child

	cfg := cs.cfg.Group
	cfg.Elsewhere = cs.toldSoFar()
	cfg.Only, cfg.Late, cfg.Hold = members, late, cfg.Hold && !cs.released.Load()
	group := assignment(cfg)
	opened, err := child.Open(context.Background(), cs.add(child, Assignment{
		Version: Version, Partitions: cfg.Partitions, Group: &group,
		Driver: cs.cfg.Driver, Zero: cs.cfg.Axis.Zero(),
	}))
	if err != nil {
		p.retire((*Child).End)
		return fmt.Errorf("opening the consumers of %s: %w", child.name, err)
	}
	for _, number := range members {
		p.here[number] = true
	}
	if members[0] == 0 && !late {
		cs.opened = opened
	}
	return nil
}

func (p *place) retire(end func(*Child)) {
	process := p.process
	p.process, p.still = nil, false
	clear(p.here)
	process.rest()
	end(process)
}

func (p *place) stop(ctx context.Context) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.process == nil {
		return
	}
	p.goOn()
	_, _ = p.process.Close(ctx) // an error ends the process
	p.retire((*Child).End)
}

func (p *place) present(number int) error {
	switch {
	case p.group.stopped.Load():
		return errStopped
	case !p.here[number]:
		return fmt.Errorf("consumer %d is not there", number)
	default:
		return p.process.Err()
	}
}

func (p *place) alone() bool { return len(p.here) == 1 }

// Start opens a member with a free number in its place, and the place's process if it has none.
func (cs *Consumers) Start(number int) error {
	if cs.here != nil {
		_, err := cs.here.Do(Command{Do: Join, Number: number})
		return err
	}
	p, err := cs.place(number)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case cs.stopped.Load():
		return errStopped
	case p.here[number]:
		return fmt.Errorf("consumer %d is there already", number)
	case p.process == nil:
		return p.open([]int{number}, true)
	}
	if _, err := p.process.Do(Command{Do: Join, Number: number}); err != nil {
		return err
	}
	p.here[number] = true
	return nil
}

func (cs *Consumers) at(c Command, do func(*place) (Answer, error)) (Answer, error) {
	if cs.here != nil {
		return cs.here.Do(c)
	}
	p, err := cs.place(c.Number)
	if err != nil {
		return Answer{}, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.present(c.Number); err != nil {
		return Answer{}, err
	}
	return do(p)
}

// Leave makes a member finish its current record, commit and leave. If it was the last member of
// its process, the process ends.
func (cs *Consumers) Leave(number int) error {
	leave := Command{Do: Leave, Number: number}
	_, err := cs.at(leave, func(p *place) (Answer, error) {
		p.goOn()
		a, err := p.process.Do(leave)
		if err != nil {
			return a, err
		}
		delete(p.here, number)
		if len(p.here) == 0 {
			p.retire((*Child).End)
		}
		return a, nil
	})
	return err
}

// CanKill returns why Kill can't be done, or nil. A member with its own process can always be
// killed.
func (cs *Consumers) CanKill() error {
	if cs.opened.CannotKill == "" || cs.here == nil && len(cs.places) >= cs.cfg.Group.Members {
		return nil
	}
	return errors.New(cs.opened.CannotKill)
}

// Kill kills a member. If it is the only member of its process, the process gets SIGKILL; right
// before, the member stops delivering and committing, and the process sends its books. Otherwise
// Kill cuts the member's connections, as receive.Group.Kill does.
func (cs *Consumers) Kill(number int) (snapshot.Loss, error) {
	kill := Command{Do: Kill, Number: number}
	a, err := cs.at(kill, func(p *place) (Answer, error) {
		if !p.alone() {
			a, err := p.process.Do(kill)
			if err == nil {
				delete(p.here, number)
				p.tellOthers(a.Loss.Partitions)
			}
			return a, err
		}
		p.goOn()
		a, err := p.process.Do(Command{Do: Doom, Number: number})
		if err != nil {
			return a, err
		}
		p.tellOthers(a.Loss.Partitions)
		p.retire((*Child).Kill)
		return a, nil
	})
	return a.Loss, err
}

// Pause pauses a member. If it is the only member of its process, Pause pauses the process
// (SIGSTOP), so that heartbeats stop too.
func (cs *Consumers) Pause(number int) (how string, err error) {
	pause := Command{Do: Pause, Number: number}
	a, err := cs.at(pause, func(p *place) (a Answer, err error) {
		if p.still {
			return a, fmt.Errorf("consumer %d is paused already", number)
		}
		// Pause the member first: the stopped process must be resumed to exit, and then it must neither
		// deliver nor commit.
		if a, err = p.process.Do(pause); err != nil || !p.alone() {
			return a, err
		}
		p.tellOthers(p.held())
		a.How = fmt.Sprintf("the process of consumer %d (pid %d) is paused (SIGSTOP): "+
			"its connections stay open and do not answer", number, p.process.PID())
		return a, p.stand()
	})
	return a.How, err
}

func (p *place) stand() (err error) {
	p.process.rest()
	if err = p.process.stand(); err != nil {
		p.process.wake()
		return fmt.Errorf("pausing process %d: %w", p.process.PID(), err)
	}
	p.still = true
	return nil
}

func (p *place) goOn() {
	if !p.still {
		return
	}
	p.still = false
	_ = p.process.goOn()
	p.process.wake()
}

// Resume resumes a paused member.
func (cs *Consumers) Resume(number int) error {
	resume := Command{Do: Resume, Number: number}
	_, err := cs.at(resume, func(p *place) (Answer, error) {
		if p.goOn(); cs.released.Load() { // the process may have missed these commands
			_ = p.process.Start(cs.cfg.Axis.Zero())
			_, _ = p.process.Do(Command{Do: Release})
		}
		p.hearOthers()
		return p.process.Do(resume)
	})
	return err
}
