package remote

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"kafkabench.example/kafka-bench/internal/measure/snapshot"
)

// place is where the members of some numbers are. There is a process as long as a
// member is: it starts with the first and ends with the last.
type place struct {
	group  *Consumers
	number int

	mu      sync.Mutex // held while members come or go
	process *Child     // nil: there is none
	here    map[int]bool
	still   bool // the process stands still
}

// errStopped is why a group that was stopped is left as it is.
var errStopped = errors.New("the group was stopped")

// open starts the process with these members; late, where the group has started.
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

// retire ends the process in order: its figures are taken home first.
func (p *place) retire(end func(*Child)) {
	process := p.process
	p.process, p.still = nil, false
	clear(p.here)
	process.rest()
	end(process)
}

// stop ends members and process at the end of the run.
func (p *place) stop(ctx context.Context) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.process == nil {
		return
	}
	p.goOn()
	_, _ = p.process.Close(ctx) // an error is its end
	p.retire((*Child).End)
}

// present is whether a member is here.
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

// alone tells whether the process has no member but one.
func (p *place) alone() bool { return len(p.here) == 1 }

// Start opens a member of a number that nobody has, in its place: with it the
// process, where there is none.
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

// at has a command done to a member that is there: by do, where the member is in another
// process.
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

// Leave has a member leave in order, and ends its process in order where that was
// its last.
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

// CanKill tells whether Kill can be done, nil, or why not. A process can always be
// killed, whatever the driver.
func (cs *Consumers) CanKill() error {
	if cs.opened.CannotKill == "" || cs.here == nil && len(cs.places) >= cs.cfg.Group.Members {
		return nil
	}
	return errors.New(cs.opened.CannotKill)
}

// Kill has a member vanish. The process of one that is alone in it is killed
// (SIGKILL). Its books come home in the moment before: the member is handed nothing
// more and commits nothing more, and the process has nothing left to do but to hold
// its connections. Where others are in the process, the member's connections are cut
// as receive.Group.Kill does.
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

// Pause has a member stand still: with its process (SIGSTOP), where it is alone in
// it, so that it sends no heartbeats either, and otherwise as receive.Group.Pause does.
func (cs *Consumers) Pause(number int) (how string, err error) {
	pause := Command{Do: Pause, Number: number}
	a, err := cs.at(pause, func(p *place) (a Answer, err error) {
		if p.still {
			return a, fmt.Errorf("consumer %d is paused already", number)
		}
		// First in it, so that it neither delivers nor commits when it is woken for its
		// end.
		if a, err = p.process.Do(pause); err != nil || !p.alone() {
			return a, err
		}
		p.tellOthers(p.held())
		a.How = fmt.Sprintf("the process of consumer %d (pid %d) stands still (SIGSTOP): "+
			"its connections are open and nobody answers", number, p.process.PID())
		return a, p.stand()
	})
	return a.How, err
}

// stand has the process stand still. What is known of it stays known.
func (p *place) stand() (err error) {
	p.process.rest()
	if err = p.process.stand(); err != nil {
		p.process.wake()
		return fmt.Errorf("stopping process %d: %w", p.process.PID(), err)
	}
	p.still = true
	return nil
}

// goOn lets a process go on that stands still; in it the member does not, yet.
func (p *place) goOn() {
	if !p.still {
		return
	}
	p.still = false
	_ = p.process.goOn() // one that is gone has ended otherwise
	p.process.wake()
}

// Resume lets a member go on that was paused.
func (cs *Consumers) Resume(number int) error {
	resume := Command{Do: Resume, Number: number}
	_, err := cs.at(resume, func(p *place) (Answer, error) {
		if p.goOn(); cs.released.Load() { // what it missed
			_ = p.process.Start(cs.cfg.Axis.Zero())
			_, _ = p.process.Do(Command{Do: Release})
		}
		p.hearOthers()
		return p.process.Do(resume)
	})
	return err
}
