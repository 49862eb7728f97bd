package remote

import (
	"errors"
	"sync"
)

// Process is a child that is asked the same questions again and again, and that may
// be made to stand still or be ended while others ask. What it last answered is
// kept: of one that does not run any more it is still what is known.
type Process struct {
	child *Child

	// waiting are those who wait for an answer. None joins them once the process does
	// not run: who has it stand still or end waits for them, so that nobody waits for an
	// answer that does not come. No lock is held meanwhile, and everybody else goes by
	// what was answered last.
	waiting sync.WaitGroup

	mu      sync.Mutex
	runs    bool              // it may be asked
	answers map[string]answer // by method
}

// answer is what was answered last, and how to ask for it again.
type answer struct {
	reply any
	again func()
}

func newProcess(c *Child) *Process {
	return &Process{child: c, runs: true, answers: make(map[string]answer)}
}

// Child is the process.
func (p *Process) Child() *Child { return p.child }

// PID is the number of the process.
func (p *Process) PID() int { return p.child.PID() }

// errNotRunning is why a process is not asked.
var errNotRunning = errors.New("the process stands still, or has ended")

// Running tells whether the process can be asked: it has neither ended nor been made
// to stand still.
func (p *Process) Running() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.runs && p.child.Err() == nil
}

// Ended tells whether there is no such process any more.
func (p *Process) Ended() bool {
	select {
	case <-p.child.gone:
		return true
	default:
		return false
	}
}

// Ask asks a process by a method that takes nothing. Of one that stands still or was
// ended in order it returns what was answered last, the zero of R if nothing was;
// of one that has died, an error beside it.
func Ask[R any](p *Process, method string) (R, error) {
	if !p.begin() {
		return last[R](p, method), p.child.Err()
	}
	defer p.waiting.Done()
	return ask[R](p, method)
}

// ask is Ask of whoever may.
func ask[R any](p *Process, method string) (R, error) {
	err := p.child.Err()
	if err == nil {
		var reply R
		if err = p.child.Call(method, None(0), &reply); err == nil {
			p.keep(method, answer{reply, func() { _, _ = ask[R](p, method) }})
			return reply, nil
		}
	}
	return last[R](p, method), err
}

// last is what was answered last.
func last[R any](p *Process, method string) R {
	p.mu.Lock()
	defer p.mu.Unlock()
	reply, _ := p.answers[method].reply.(R)
	return reply
}

// begin tells whether the process may be asked; whoever does is one of those waiting
// until it says that it is done.
func (p *Process) begin() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.runs {
		p.waiting.Add(1)
	}
	return p.runs
}

func (p *Process) keep(method string, a answer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answers[method] = a
}

// Call asks a process that runs, for what is not kept.
func (p *Process) Call(method string, args, reply any) error {
	if !p.begin() {
		return errNotRunning
	}
	defer p.waiting.Done()
	return p.child.Call(method, args, reply)
}

// rest is the end of asking. From now on the process is asked by nobody else; when
// those have their answers that wait for one, everything is asked for the last time,
// and once, which may be nil, asks what else is wanted of it. All of that is asked at
// the same time: a process that hangs costs the time that one answer may take, after
// which it is ended (Child.Call) and nobody waits for it any more.
func (p *Process) rest(once func()) {
	if !p.halt() {
		return
	}
	p.waiting.Wait()
	questions := p.questions()
	if once != nil {
		questions = append(questions, once)
	}
	var asking sync.WaitGroup
	for _, ask := range questions {
		asking.Go(ask)
	}
	asking.Wait()
}

// halt has nobody ask any more; it returns false where nobody does already.
func (p *Process) halt() (ran bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	ran, p.runs = p.runs, false
	return ran
}

// questions are all that was ever asked, each to be asked again.
func (p *Process) questions() (all []func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, a := range p.answers {
		all = append(all, a.again)
	}
	return all
}

// wake has the process be asked again.
func (p *Process) wake() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.runs = true
}
