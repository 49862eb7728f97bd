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

// setup is the first line that a run writes to its child. It contains the secrets, which must not
// be in the command line or the environment.
type setup struct {
	Page    string `json:"page,omitempty"`    // the address; "" is none
	Metrics string `json:"metrics,omitempty"` // the address; "" is none
	Token   string `json:"token,omitempty"`   // that a scrape must have; "" is none
	Agent   string `json:"agent,omitempty"`   // as in Options
	Host    string `json:"host,omitempty"`
}

// opened is the only line that the child writes.
type opened struct {
	Page    string `json:"page,omitempty"` // the URL for a browser
	Warning string `json:"warning,omitempty"`
	Metrics string `json:"metrics,omitempty"` // the URL to scrape
	Error   string `json:"error,omitempty"`   // why nothing is served
}

type message struct {
	Do       string    `json:"do"`
	Dir      string    `json:"dir,omitempty"`
	Text     string    `json:"text,omitempty"`
	Progress *Progress `json:"progress,omitempty"`
}

const (
	doRun      = "run"      // a run's folder exists
	doCampaign = "campaign" // a campaign's folder exists
	doProgress = "progress" // the progress of a campaign
	doStatus   = "status"   // what happens outside the phases
	doFinish   = "finish"   // the last message
)

// Progress is the progress of a campaign or a search.
type Progress struct {
	Run  int    `json:"run"`            // the current run, from 1
	Of   int    `json:"of,omitempty"`   // all runs; 0 if unknown
	Text string `json:"text,omitempty"` // in words: what is run, and the time left
}

// Options say what a child serves.
type Options struct {
	Page, Metrics *Address // nil is none
	Token         string   // that a scrape must have; "" is none
	// Agent is the index of the agent that makes parts of runs, and Host its machine. Both are
	// labels of its metrics. Agent is "" if this process makes whole runs.
	Agent, Host string
	// Warn is called, from any goroutine, when the child is lost.
	Warn func(string)
}

// Pages is the run's side of a child. Except Finish and Close, its methods return at once. They are
// safe for concurrent use. Calls after Finish or Close have no effect, and a nil *Pages ignores all
// calls.
type Pages struct {
	URL     string // of the page; "" if there is none
	Warning string // about the page; "" if there is none
	Metrics string // the URL to scrape; "" if there is none

	in       io.WriteCloser
	warn     func(string)
	patience time.Duration // for the child's end
	queue    chan message
	written  chan struct{} // closed when all is written
	gone     chan struct{} // closed when the child has ended
	dropped  atomic.Int64
	warned   sync.Once
	lost     chan struct{} // closed when the child is lost
	ending   chan struct{} // closed after the last message
}

// The bounds of the queue, in messages. Statuses are dropped first.
const (
	mostQueued   = 64
	mostStatuses = 56
)

// The timeouts of Finish.
const (
	pageTimeout   = 30 * time.Second
	tabsTimeout   = 5 * time.Second
	scrapeTimeout = 15 * time.Second
	endTimeout    = 2 * time.Second
)

// Connect sets up a child with this standard input and output. The error says why the child serves
// nothing; usually an address is taken.
func Connect(in io.WriteCloser, out io.Reader, o Options) (*Pages, error) {
	s := setup{Token: o.Token, Agent: o.Agent, Host: o.Host}
	patience := tabsTimeout
	if o.Metrics != nil {
		s.Metrics, patience = o.Metrics.String(), scrapeTimeout
	}
	if o.Page != nil {
		s.Page = o.Page.String()
		patience += pageTimeout
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
		lost: make(chan struct{}),
	}
	go p.write()
	go p.await(lines)
	return p, nil
}

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

// await waits for the end of the child's output, and so of the child.
func (p *Pages) await(out io.Reader) {
	defer close(p.gone)
	_, _ = io.Copy(io.Discard, out)
	select {
	case <-p.ending:
	default:
		p.lose("its process ended")
	}
}

func (p *Pages) lose(why string) {
	p.warned.Do(func() {
		close(p.lost)
		p.warn("the page and the metrics are lost, and the run goes on: " + why)
	})
}

// The child is lost if the queue is full.
func (p *Pages) tell(m message) {
	if p == nil {
		return
	}
	select {
	case p.queue <- m:
	default:
		p.lose("its process does not read its input")
	}
}

// Run reports that a run's folder exists.
func (p *Pages) Run(dir string) { p.tell(message{Do: doRun, Dir: dir}) }

// Campaign reports that a campaign's folder exists. The next runs belong to it.
func (p *Pages) Campaign(dir string) { p.tell(message{Do: doCampaign, Dir: dir}) }

// Progress reports the progress of a campaign.
func (p *Pages) Progress(progress Progress) { p.tell(message{Do: doProgress, Progress: &progress}) }

// Status reports what happens outside the phases of a run. If the queue is nearly full, the status
// is dropped and counted.
func (p *Pages) Status(text string) {
	if p != nil && len(p.queue) >= mostStatuses {
		p.dropped.Add(1)
		return
	}
	p.tell(message{Do: doStatus, Text: text})
}

// Dropped returns the number of dropped statuses.
func (p *Pages) Dropped() int64 { return p.dropped.Load() }

// Finish sends the last message, and waits until the child has ended. Before that, open tabs load
// the page of the finished run, and Prometheus scrapes once more. Finish does not wait for a lost
// child.
func (p *Pages) Finish() {
	p.tell(message{Do: doFinish})
	patience := p.patience
	select {
	case <-p.lost:
		patience = 0
	default:
	}
	p.end(patience)
}

// Close ends the child at once.
func (p *Pages) Close() { p.end(0) }

// end waits up to patience for the child's end, and then closes its input, which ends it.
func (p *Pages) end(patience time.Duration) {
	close(p.ending)
	wait(p.gone, patience)
	_ = p.in.Close() // the child may be gone
	<-p.written
	wait(p.gone, endTimeout)
}

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
