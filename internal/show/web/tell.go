package web

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// setup is the first line that a run writes to its child: what to serve, and where. What is
// secret goes this way, and never by command line or environment.
type setup struct {
	Page    string `json:"page,omitempty"`    // the address; "" is none
	Metrics string `json:"metrics,omitempty"` // the address; "" is none
	Token   string `json:"token,omitempty"`   // that a scrape must have; "" is none
}

// opened is the first and only line that the child writes.
type opened struct {
	Page    string `json:"page,omitempty"` // what to open in a browser
	Warning string `json:"warning,omitempty"`
	Metrics string `json:"metrics,omitempty"` // what to scrape
	Error   string `json:"error,omitempty"`   // why nothing is served
}

// message is a further line of the run.
type message struct {
	Do       string    `json:"do"`
	Dir      string    `json:"dir,omitempty"`
	Text     string    `json:"text,omitempty"`
	Progress *Progress `json:"progress,omitempty"`
}

// What messages do.
const (
	doRun      = "run"      // a run's folder exists
	doCampaign = "campaign" // a campaign's folder exists
	doProgress = "progress" // how far a campaign has come
	doStatus   = "status"   // what goes on outside the phases
	doFinish   = "finish"   // nothing more is told
)

// Progress is how far a campaign, or a search, has come.
type Progress struct {
	Run  int    `json:"run"`            // that is being made, from 1
	Of   int    `json:"of,omitempty"`   // all runs; 0 if nobody knows
	Text string `json:"text,omitempty"` // in words: what is run, and the time left
}

// Options say what a child serves.
type Options struct {
	Page, Metrics *Address // nil is none
	Token         string   // that a scrape must have; "" is none
	// Warn is told, from any goroutine, that the child is lost.
	Warn func(string)
}

// Pages is the run's side of a child. Its methods return at once, whatever the child does, but
// for Finish and Close. They may be called from any goroutine; what is told after Finish or Close is lost. A
// nil *Pages tells nobody.
type Pages struct {
	URL     string // of the page; "" if there is none
	Warning string // on it; "" if there is none
	Metrics string // what to scrape; "" if there is none

	in       io.WriteCloser
	warn     func(string)
	patience time.Duration // for the child's end
	queue    chan message
	written  chan struct{} // closed when all is written
	gone     chan struct{} // closed when the child has ended
	dropped  atomic.Int64
	warned   sync.Once
	ending   chan struct{} // closed when nothing more is told
}

// Bounds of what waits for the child, in messages. A status is worth less than what else is told.
const (
	mostQueued   = 64
	mostStatuses = 56
)

// How long Finish waits: for tabs that take the last page over, for a last scrape, and for
// the child's end.
const (
	tabsTimeout   = 5 * time.Second
	scrapeTimeout = 15 * time.Second
	endTimeout    = 2 * time.Second
)

// Connect sets a child up whose standard input and output these are. The error says why
// it serves nothing: as a rule, an address is taken.
func Connect(in io.WriteCloser, out io.Reader, o Options) (*Pages, error) {
	s := setup{Token: o.Token}
	patience := tabsTimeout
	if o.Page != nil {
		s.Page = o.Page.String()
	}
	if o.Metrics != nil {
		s.Metrics, patience = o.Metrics.String(), scrapeTimeout
	}
	lines := bufio.NewReader(out)
	var answer opened
	err := json.NewEncoder(in).Encode(s)
	if err == nil {
		var line []byte
		if line, err = lines.ReadBytes('\n'); err == nil {
			err = json.Unmarshal(line, &answer)
		}
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("the process of the page does not answer: %w", err)
	case answer.Error != "":
		return nil, errors.New(answer.Error)
	}
	p := &Pages{
		URL: answer.Page, Warning: answer.Warning, Metrics: answer.Metrics,
		in: in, warn: o.Warn, patience: patience + tabsTimeout + endTimeout, queue: make(chan message, mostQueued),
		written: make(chan struct{}), gone: make(chan struct{}), ending: make(chan struct{}),
	}
	go p.write()
	go p.await(lines)
	return p, nil
}

// write writes what is queued. A child that is lost gets no more.
func (p *Pages) write() {
	defer close(p.written)
	to := json.NewEncoder(p.in)
	var lost error
	put := func(m message) {
		if lost == nil {
			if lost = to.Encode(m); lost != nil {
				p.lose(lost.Error())
			}
		}
	}
	for {
		select {
		case m := <-p.queue:
			put(m)
		case <-p.ending:
			for len(p.queue) > 0 {
				put(<-p.queue)
			}
			return
		}
	}
}

// await waits for the child's end, which is that of its output.
func (p *Pages) await(out io.Reader) {
	defer close(p.gone)
	_, _ = io.Copy(io.Discard, out)
	select {
	case <-p.ending:
	default:
		p.lose("its process ended")
	}
}

// lose says, once, that the child is lost.
func (p *Pages) lose(why string) {
	p.warned.Do(func() { p.warn("the page and the metrics are lost, and the run goes on: " + why) })
}

// tell queues a message. A child that takes nothing for so long is lost.
func (p *Pages) tell(m message) {
	if p == nil {
		return
	}
	select {
	case p.queue <- m:
	default:
		p.lose("its process does not take what it is told")
	}
}

// Run tells that a run's folder exists.
func (p *Pages) Run(dir string) { p.tell(message{Do: doRun, Dir: dir}) }

// Campaign tells that a campaign's folder exists. The runs that follow are its own.
func (p *Pages) Campaign(dir string) { p.tell(message{Do: doCampaign, Dir: dir}) }

// Progress tells how far a campaign has come.
func (p *Pages) Progress(progress Progress) { p.tell(message{Do: doProgress, Progress: &progress}) }

// Status tells what goes on outside the phases of a run, such as starting a cluster. One for
// which there is no room is dropped and counted: another follows.
func (p *Pages) Status(text string) {
	if p != nil && len(p.queue) >= mostStatuses {
		p.dropped.Add(1)
		return
	}
	p.tell(message{Do: doStatus, Text: text})
}

// Dropped is how many statuses were dropped.
func (p *Pages) Dropped() int64 { return p.dropped.Load() }

// Finish tells that nothing more comes, and waits until the child has ended: first the open
// tabs take over the page of what was recorded, and whoever scrapes does so once more.
func (p *Pages) Finish() {
	p.tell(message{Do: doFinish})
	p.end(p.patience)
}

// Close ends the child at once.
func (p *Pages) Close() { p.end(0) }

// end lets the child end by itself for so long, and then takes its input away, which ends it.
func (p *Pages) end(patience time.Duration) {
	close(p.ending)
	wait(p.gone, patience)
	_ = p.in.Close() // the child may be gone
	<-p.written
	wait(p.gone, endTimeout)
}

// wait waits for a channel to be closed, for so long at most.
func wait(c <-chan struct{}, d time.Duration) {
	if d == 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-c:
	case <-timer.C:
	}
}
