package markers

import (
	"context"
	"sync"
)

// pending are the numbers of writes under way.
type pending struct {
	mu      sync.Mutex
	last    uint64
	low     uint64 // no number below it is open
	open    map[uint64]struct{}
	changed chan struct{} // closed when one is done; nil: nobody waits
}

// add begins a write and returns its number.
func (p *pending) add() uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.open == nil {
		p.open = make(map[uint64]struct{})
	}
	p.last++
	p.open[p.last] = struct{}{}
	return p.last
}

func (p *pending) done(number uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.open, number)
	for _, open := p.open[p.low]; !open && p.low < p.last; _, open = p.open[p.low] {
		p.low++
	}
	if p.changed != nil {
		close(p.changed)
		p.changed = nil
	}
}

// wait waits until everything that began before the call is done, or for ctx.
func (p *pending) wait(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for last := p.last; len(p.open) > 0 && p.low <= last; {
		if p.changed == nil {
			p.changed = make(chan struct{})
		}
		changed := p.changed
		p.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
		}
		p.mu.Lock()
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}
