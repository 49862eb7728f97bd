package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/show/follow"
	"kafkabench.example/kafka-bench/internal/show/pages"
	"kafkabench.example/kafka-bench/internal/show/promrun"
)

// Serve is the child's side. It reads the run's messages from in, and writes one line to out: where
// it serves, or why it cannot. It returns when its input ends, or after the run's last message,
// when neither a tab nor Prometheus waits for the end. The error says why it stopped serving.
func Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	from := json.NewDecoder(in)
	var s setup
	if err := from.Decode(&s); err != nil {
		return fmt.Errorf("reading what to serve: %w", err)
	}
	l, err := newLive(ctx, s)
	if err != nil {
		return json.NewEncoder(out).Encode(opened{Error: err.Error()})
	}
	answer := opened{}
	if l.page != nil {
		answer.Page, answer.Warning = l.page.URL(), l.page.Warning()
	}
	if l.scrapes != nil {
		answer.Metrics = l.scrapes.url()
	}
	if err := json.NewEncoder(out).Encode(answer); err != nil {
		return err
	}
	return l.serve(ctx, from)
}

// serve ends when an address fails; the run then notices that the child has ended.
func (l *live) serve(ctx context.Context, from *json.Decoder) error {
	ctx, cancel := context.WithCancelCause(ctx)
	var servers sync.WaitGroup
	defer servers.Wait()
	defer cancel(nil)
	start := func(serve func() error) {
		servers.Go(func() {
			if err := serve(); err != nil {
				cancel(err)
			}
		})
	}
	if l.page != nil {
		start(func() error { return l.page.Serve(ctx, l.handler()) })
	}
	if l.scrapes != nil {
		start(func() error { return l.scrapes.door.serve(ctx, l.scrapes) })
	}
	l.conduct(ctx, messagesOf(ctx, from))
	return context.Cause(ctx)
}

// The channel is closed when the input ends or is malformed.
func messagesOf(ctx context.Context, from *json.Decoder) <-chan message {
	messages := make(chan message)
	go func() {
		defer close(messages)
		for {
			var m message
			if from.Decode(&m) != nil {
				return
			}
			select {
			case messages <- m:
			case <-ctx.Done():
				return
			}
		}
	}()
	return messages
}

// live is the run or the campaign in progress. One goroutine runs conduct. Handlers read only the
// fields behind the lock.
type live struct {
	page      *Door // nil without a page
	tabs      *tabs
	scrapes   *scrapes // nil without metrics
	collector *promrun.Collector
	agent     bool                   // the runs are parts, whose folders have no end
	recorded  func() ([]byte, error) // makes the page of the finished run, once

	// Of the goroutine that runs conduct.
	seen     *seen // nil without a run
	measured bool  // a run has finished, or an agent has measured
	status   string
	lost     string // why the present run cannot be followed; else ""
	progress Progress
	changes  <-chan followed  // of the present run; nil without one
	redraw   <-chan time.Time // when to draw the charts again; nil if they are complete
	stop     func()           // ends the follower

	mu       sync.Mutex
	subject  string // the folder of the run, or of the campaign; "" without one
	campaign bool
	ended    bool
}

func newLive(ctx context.Context, s setup) (*live, error) {
	l := &live{tabs: newTabs(), stop: func() {}, agent: s.Agent != ""}
	l.recorded = sync.OnceValues(l.recordedPage)
	open := func(address string) (*Door, error) {
		a, err := ParseAddress(address)
		if err != nil {
			return nil, err
		}
		return Open(ctx, a)
	}
	if s.Page != "" {
		d, err := open(s.Page)
		if err != nil {
			return nil, fmt.Errorf("--web: %w", err)
		}
		l.page = d
	}
	if s.Metrics != "" {
		d, err := open(s.Metrics)
		if err == nil && !d.loopback && s.Token == "" {
			err = errors.Join(fmt.Errorf("%s: %w", s.Metrics, ErrReached), d.Close())
		}
		if err == nil {
			l.collector = promrun.New()
			if l.agent {
				l.collector = promrun.OfAgent(s.Agent, s.Host)
			}
			l.scrapes, err = newScrapes(d, s.Token, l.collector)
		}
		if err != nil {
			if l.page != nil {
				err = errors.Join(err, l.page.Close())
			}
			return nil, fmt.Errorf("--metrics: %w", err)
		}
	}
	return l, nil
}

func (l *live) conduct(ctx context.Context, messages <-chan message) {
	defer func() { l.stop() }()
	for {
		select {
		case m, more := <-messages:
			switch {
			case !more:
				return
			case m.Do == doFinish:
				l.finish(ctx, messages)
				return
			}
			l.take(ctx, m)
		case c, more := <-l.changes:
			l.follow(c, more)
		case <-l.tabs.joined:
		case <-l.redraw:
		case <-ctx.Done():
			return
		}
		l.show()
	}
}

func (l *live) take(ctx context.Context, m message) {
	switch m.Do {
	case doRun:
		l.stop()
		l.seen, l.status, l.lost = &seen{}, "", ""
		l.changes, l.stop = l.following(ctx, m.Dir)
		l.setSubject(m.Dir, false)
	case doCampaign:
		l.setSubject(m.Dir, true)
	case doProgress:
		l.progress = *m.Progress
	case doStatus:
		l.status = m.Text
	}
}

// setSubject keeps a campaign as the subject: a run of the campaign does not replace it.
func (l *live) setSubject(dir string, campaign bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.campaign {
		l.subject, l.campaign = dir, campaign
	}
}

type followed struct {
	follow.Change
	err error
}

// The channel is closed after the last change.
func (l *live) following(ctx context.Context, dir string) (changes <-chan followed, stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	to := make(chan followed)
	done := make(chan struct{})
	tell := func(c followed) {
		select {
		case to <- c:
		case <-ctx.Done():
		}
	}
	go func() {
		defer close(done)
		defer close(to)
		err := eachChange(ctx, dir, l.scrapes != nil, func(c follow.Change) { tell(followed{Change: c}) })
		if !errors.Is(err, io.EOF) {
			tell(followed{err: err})
		}
	}()
	return to, func() {
		cancel()
		<-done
	}
}

// eachChange returns io.EOF after the run's end.
func eachChange(ctx context.Context, dir string, histograms bool, take func(follow.Change)) error {
	library, err := OpenLibrary(filepath.Dir(dir))
	if err != nil {
		return err
	}
	defer library.Close()
	f, err := follow.Open(library.root, filepath.Base(dir))
	if err != nil {
		return err
	}
	defer f.Close()
	f.Histograms = histograms
	for {
		change, err := f.Next(ctx)
		if err != nil {
			return err
		}
		take(change)
	}
}

func (l *live) follow(c followed, more bool) {
	if !more {
		l.changes = nil
		return
	}
	if c.err != nil {
		l.lost = c.err.Error()
		return
	}
	l.measured = l.measured || c.Ended || l.agent && len(c.Intervals) > 0
	if l.collector != nil {
		l.collector.Take(c.Change)
	}
	if l.seen.take(c.Change) {
		l.status = "" // the phase replaces it
	}
}

func (l *live) show() {
	if l.page == nil || l.tabs.open() == 0 {
		return
	}
	if text, err := json.Marshal(l.state()); err == nil { // state has only values that JSON can encode
		l.tabs.publish(text)
	}
	if l.redraw = nil; l.seen != nil {
		l.redraw = l.seen.due()
	}
}

func (l *live) state() state {
	s := state{
		Status: l.status, Progress: l.progress.Text, Done: max(0, l.progress.Run-1), Of: l.progress.Of, Values: []value{},
		Charts: map[string]drawing{}, Events: []shownEvent{}, Agents: [][]string{},
	}
	l.mu.Lock()
	if l.campaign {
		s.Name = entryOf(filepath.Base(l.subject), version{}).name
	}
	if s.Ended = l.ended; l.ended && l.subject != "" {
		s.Page = "/page"
	}
	l.mu.Unlock()
	if l.seen != nil {
		l.seen.fill(&s)
	}
	if l.lost != "" {
		s.Status = l.lost
	}
	return s
}

// finish waits until the open tabs have loaded the page of the finished run and, if a run has
// finished, for one more scrape.
func (l *live) finish(ctx context.Context, messages <-chan message) {
	l.followToTheEnd(ctx)
	l.end()
	l.status = "ended"
	if l.tabs.open() > 0 && l.over() {
		_, _ = l.recorded() // made before the timeouts begin; tabs get an error later
	}
	l.show()
	tabs, scrape := time.NewTimer(tabsTimeout), time.NewTimer(scrapeTimeout)
	defer tabs.Stop()
	defer scrape.Stop()
	looking, scraping := l.page != nil, l.scrapes != nil && l.measured
	if scraping {
		l.scrapes.ended.Store(true)
	}
	for looking && l.tabs.open() > 0 || scraping {
		select {
		case <-l.tabs.left:
		case <-l.tabs.joined:
			l.show()
		case <-tabs.C:
			looking = false
		case <-l.done():
			scraping = false
		case <-scrape.C:
			scraping = false
		case <-messages: // no message comes after finish: the run is gone
			return
		case <-ctx.Done():
			return
		}
	}
}

// end finds out whether anything was recorded: a run that never began, or a campaign without a run,
// has removed its folder.
func (l *live) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	file := result.SummaryFile
	if l.campaign {
		file = result.CampaignFile
	}
	if _, err := os.Stat(filepath.Join(l.subject, file)); err != nil {
		l.subject = ""
	}
	l.ended = true
}

func (l *live) done() <-chan struct{} {
	if l.scrapes == nil {
		return nil
	}
	return l.scrapes.done
}

func (l *live) followToTheEnd(ctx context.Context) {
	timer := time.NewTimer(endTimeout)
	defer timer.Stop()
	for l.changes != nil {
		select {
		case c, more := <-l.changes:
			l.follow(c, more)
		case <-timer.C: // the run was killed
			return
		case <-ctx.Done():
			return
		}
	}
}

func (l *live) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		var page []byte
		var err error
		if l.over() {
			page, err = l.recorded()
		} else {
			page, err = livePage()
		}
		answerLive(w, page, err)
	})
	mux.HandleFunc("GET /page", func(w http.ResponseWriter, r *http.Request) {
		if !l.over() {
			http.NotFound(w, r)
			return
		}
		page, err := l.recorded()
		answerLive(w, page, err)
	})
	mux.Handle("GET /events", l.tabs)
	mux.HandleFunc("GET /assets/{file}", serveAsset)
	return mux
}

func answerLive(w http.ResponseWriter, page []byte, err error) {
	if err != nil {
		http.Error(w, err.Error(), statusOf(err))
		return
	}
	write(w, http.StatusOK, page)
}

func (l *live) over() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ended && l.subject != ""
}

// recordedPage is the page that kafka-bench report makes, without links to runs, because this
// server ends.
func (l *live) recordedPage() ([]byte, error) {
	l.mu.Lock()
	dir, campaign := l.subject, l.campaign
	l.mu.Unlock()
	library, err := OpenLibrary(filepath.Dir(dir))
	if err != nil {
		return nil, err
	}
	defer library.Close()
	p, err := library.page(filepath.Base(dir), campaign)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = p.Write(&b, pages.Options{Assets: ofServer.assets()})
	return b.Bytes(), err
}

func (l *Library) page(folder string, campaign bool) (*pages.Page, error) {
	if !campaign {
		r, err := l.run(folder)
		if err != nil {
			return nil, err
		}
		return pages.Run(r), nil
	}
	c, err := l.campaign(folder)
	if err != nil {
		return nil, err
	}
	return pages.Study(c, "")
}

func livePage() ([]byte, error) {
	t, err := template.New("live").Parse(liveHTML)
	if err != nil {
		return nil, err
	}
	var main, page bytes.Buffer
	if err := t.Execute(&main, struct {
		Charts []liveChart
		Agents []string
	}{liveCharts(), agentColumns}); err != nil {
		return nil, fmt.Errorf("the page could not be written: %w", err)
	}
	p := &pages.Page{Kind: "Run", Title: "Run that goes on", Main: template.HTML(main.String())}
	err = p.Write(&page, pages.Options{Assets: ofServer.assets(), Modules: []string{"live.js"}})
	return page.Bytes(), err
}
