package remote

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"kafkabench.example/kafka-bench/internal/measure/snapshot"
)

// place is where the members of some numbers are. There is a process as long as a
// member is: it starts with the first and ends with the last.
type place struct {
	group  *Consumers
	number int

	mu      sync.Mutex // held while members come or go
	process *Process   // nil: there is none
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
	p.process = newProcess(child)
	cs.mu.Lock()
	cs.all = append(cs.all, p.process)
	cs.mu.Unlock()

	cfg := cs.cfg.Group
	cfg.Elsewhere = cs.toldSoFar()
	cfg.Only, cfg.Late, cfg.Hold = members, late, cfg.Hold && !cs.released.Load()
	a := assignment(cfg)
	a.Driver, a.Access, a.Zero = cs.cfg.Driver, cs.cfg.Access, cs.cfg.Axis.Zero()
	var reply GroupReply
	if err := child.call(ConsumersName+".Open", a, &reply, OpenTimeout); err != nil {
		p.retire((*Child).End)
		return fmt.Errorf("opening the consumers of %s: %w", child.name, err)
	}
	for _, number := range members {
		p.here[number] = true
	}
	if members[0] == 0 && !late {
		cs.settings, cs.workers, cs.cannot = reply.Settings, reply.Workers, reply.CannotKill
	}
	return nil
}

// retire ends the process in order: its figures are taken home first.
func (p *place) retire(end func(*Child)) {
	process := p.process
	p.process, p.still = nil, false
	clear(p.here)
	process.rest(func() { p.group.keepRecorded(process.child) })
	end(process.child)
}

// stop ends members and process at the end of the run.
func (p *place) stop(ctx context.Context) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.process == nil {
		return
	}
	p.goOn()
	patience := closeTimeout
	if until, bounded := ctx.Deadline(); bounded {
		patience = max(0, time.Until(until))
	}
	_ = p.process.child.call(ConsumersName+".Stop", patience, new(None), patience+answerTimeout) // an error is its end
	p.ask()
	p.retire((*Child).End)
}

// ask asks what is to be known of a process at its end, were it never asked before.
func (p *place) ask() {
	_, _ = Ask[Standing](p.process, ConsumersName+".Standing")
	_, _ = Ask[GroupReached](p.process, ConsumersName+".Reached")
	_, _ = Ask[[]snapshot.Reached](p.process, ConsumersName+".Positions")
}

// present is whether a member is here.
func (p *place) present(number int) error {
	switch {
	case p.group.stopped.Load():
		return errStopped
	case !p.here[number]:
		return fmt.Errorf("consumer %d is not there", number)
	default:
		return p.process.child.Err()
	}
}

// alone tells whether the process has no member but one.
func (p *place) alone() bool { return len(p.here) == 1 }

// Start opens a member of a number that nobody has, in its place: with it the
// process, where there is none.
func (cs *Consumers) Start(number int) error {
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
	if err := p.process.child.call(ConsumersName+".Start", number, new(None), OpenTimeout); err != nil {
		return err
	}
	p.here[number] = true
	return nil
}

// at has something done to a member that is there.
func (cs *Consumers) at(number int, do func(*place) error) error {
	p, err := cs.place(number)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.present(number); err != nil {
		return err
	}
	return do(p)
}

// Leave has a member leave in order, and ends its process in order where that was
// its last.
func (cs *Consumers) Leave(number int) error {
	return cs.at(number, func(p *place) error {
		p.goOn()
		if err := p.process.child.call(ConsumersName+".Leave", number, new(None), closeTimeout); err != nil {
			return err
		}
		delete(p.here, number)
		if len(p.here) == 0 {
			p.ask()
			p.retire((*Child).End)
		}
		return nil
	})
}

// CanKill tells whether Kill can be done, nil, or why not. A process can always be
// killed, whatever the driver.
func (cs *Consumers) CanKill() error {
	if cs.cannot == "" || len(cs.places) >= cs.cfg.Group.Members {
		return nil
	}
	return errors.New(cs.cannot)
}

// Kill has a member vanish. The process of one that is alone in it is killed
// (SIGKILL). Its books come home in the moment before: the member is handed nothing
// more and commits nothing more, and the process has nothing left to do but to hold
// its connections. Where others are in the process, the member's connections are cut
// as receive.Group.Kill does.
func (cs *Consumers) Kill(number int) (loss snapshot.Loss, err error) {
	err = cs.at(number, func(p *place) error {
		if !p.alone() {
			err := p.process.child.Call(ConsumersName+".Kill", number, &loss)
			if err == nil {
				delete(p.here, number)
				p.tellOthers(loss.Partitions)
			}
			return err
		}
		p.goOn()
		if err := p.process.child.call(ConsumersName+".Doom", number, &loss, closeTimeout); err != nil {
			return err
		}
		p.ask()
		p.tellOthers(loss.Partitions)
		p.retire((*Child).Kill)
		return nil
	})
	return loss, err
}

// Pause has a member stand still: with its process (SIGSTOP), where it is alone in
// it, so that it sends no heartbeats either, and otherwise as receive.Group.Pause does.
func (cs *Consumers) Pause(number int) (how string, err error) {
	err = cs.at(number, func(p *place) error {
		if p.still {
			return fmt.Errorf("consumer %d is paused already", number)
		}
		// First in it, so that it neither delivers nor commits when it is woken for its
		// end.
		if err := p.process.child.Call(ConsumersName+".Pause", number, &how); err != nil || !p.alone() {
			return err
		}
		p.ask()
		p.tellOthers(p.held())
		how = fmt.Sprintf("the process of consumer %d (pid %d) stands still (SIGSTOP): its connections are open and nobody answers", number, p.process.PID())
		return p.stand()
	})
	return how, err
}

// stand has the process stand still. What is known of it stays known.
func (p *place) stand() (err error) {
	p.process.rest(nil)
	if err = p.process.child.stand(); err != nil {
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
	_ = p.process.child.goOn() // one that is gone has ended otherwise
	p.process.wake()
}

// Resume lets a member go on that was paused.
func (cs *Consumers) Resume(number int) error {
	return cs.at(number, func(p *place) error {
		if p.goOn(); cs.released.Load() { // what it missed
			_ = p.process.child.Call(ConsumersName+".Begin", cs.cfg.Axis.Zero(), new(None))
			_ = p.process.child.Call(ConsumersName+".Release", None(0), new(None))
		}
		p.hearOthers()
		return p.process.child.Call(ConsumersName+".Resume", number, new(None))
	})
}
