package web

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/resulttest"
	"kafkabench.example/kafka-bench/internal/show/follow"
	"kafkabench.example/kafka-bench/internal/show/pages"
)

type family struct {
	*Pages
	t      *testing.T
	ended  chan error
	kill   context.CancelFunc
	mu     sync.Mutex
	warned []string
}

func connect(t *testing.T, o Options) (*family, error) {
	t.Helper()
	ctx, kill := context.WithCancel(t.Context())
	t.Cleanup(kill)
	f := &family{t: t, ended: make(chan error, 1), kill: kill}
	inChild, in := io.Pipe()
	out, outChild := io.Pipe()
	go func() {
		err := Serve(ctx, inChild, outChild)
		inChild.Close()
		outChild.Close()
		f.ended <- err
	}()
	o.Warn = func(text string) {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.warned = append(f.warned, text)
	}
	var err error
	f.Pages, err = Connect(in, out, o)
	return f, err
}

func mustConnect(t *testing.T, o Options) *family {
	t.Helper()
	f, err := connect(t, o)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func (f *family) warnings() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.warned
}

func anyPort(t *testing.T) *Address {
	t.Helper()
	a, err := ParseAddress("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return &a
}

type tab struct {
	t     *testing.T
	body  io.ReadCloser
	lines *bufio.Reader
}

func (f *family) look() *tab {
	f.t.Helper()
	answer, err := http.Get(f.URL + "events")
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { answer.Body.Close() })
	return &tab{f.t, answer.Body, bufio.NewReader(answer.Body)}
}

func (b *tab) until(what string, fits func(state) bool) state {
	b.t.Helper()
	for {
		line, err := b.lines.ReadString('\n')
		if err != nil {
			b.t.Fatalf("no state has %s: %v", what, err)
		}
		text, some := strings.CutPrefix(line, "data: ")
		if !some {
			continue
		}
		var s state
		if err := json.Unmarshal([]byte(text), &s); err != nil {
			b.t.Fatal(err)
		}
		if fits(s) {
			return s
		}
	}
}

func fetch(t *testing.T, address string) string {
	t.Helper()
	answer, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v: %s", address, answer.Status, err, text)
	}
	return string(text)
}

func mainOf(t *testing.T, page string) string {
	t.Helper()
	_, rest, _ := strings.Cut(page, "<main")
	main, _, whole := strings.Cut(rest, "</main>")
	if !whole {
		t.Fatalf("no whole page: %.300s", page)
	}
	return main
}

// Each interval is on the page before the next one is written. After the run's end, the page is its
// report, and the child ends when the tab has loaded it.
func TestLivePage(t *testing.T) {
	f := mustConnect(t, Options{Page: anyPort(t)})
	if page := fetch(t, f.URL); !strings.Contains(page, "running: no verdict yet") || !strings.Contains(page, `src="/assets/live.js"`) {
		t.Errorf("the page is\n%s", page)
	}
	b := f.look()
	f.Status("starting the cluster")
	b.until("the status", func(s state) bool { return s.Status == "starting the cluster" })

	made := resulttest.OverloadTight().Run()
	w, err := result.Create(t.TempDir(), made.Run.Run.Name, made.Run.Run.StartedAt)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Describe(made.Run.Run, made.Run.Scenario); err != nil {
		t.Fatal(err)
	}
	f.Run(w.Dir())
	for _, e := range made.Events {
		if err := w.Event(e); err != nil {
			t.Fatal(err)
		}
	}
	for _, i := range made.Intervals[:6] {
		if err := w.Interval(i); err != nil {
			t.Fatal(err)
		}
		s := b.until("the interval", func(s state) bool { return s.EndNs != nil && *s.EndNs == i.EndNs })
		if s.Name != made.Run.Run.Name || s.Ended || s.Page != "" || len(s.Values) == 0 || len(s.Events) == 0 {
			t.Errorf("interval %d: name %q, ended %t, page %q, %d values, %d events", i.EndNs, s.Name, s.Ended, s.Page, len(s.Values), len(s.Events))
		}
		for _, name := range []string{"timeline", "lag", "gate"} {
			if c := s.Charts[name]; !strings.HasPrefix(string(c.Wide), "<svg") || !strings.HasPrefix(string(c.Narrow), "<svg") {
				t.Errorf("interval %d: chart %s is %.80q", i.EndNs, name, c.Wide)
			}
		}
	}
	if answer, err := http.Get(f.URL + "page"); err != nil || answer.StatusCode != http.StatusNotFound {
		t.Errorf("there is a page of the run before its end: %v", err)
	}
	for _, i := range made.Intervals[6:] {
		if err := w.Interval(i); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Finish(made.Run); err != nil {
		t.Fatal(err)
	}
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		f.Finish()
	}()
	last := b.until("the end", func(s state) bool { return s.Ended })
	f.wantPage(last.Page, w.Dir(), false)
	if page := fetch(t, f.URL); page != fetch(t, f.URL+"page") {
		t.Error("who loads the page again does not have the page of the run")
	}
	b.body.Close()
	<-finished
	if err := <-f.ended; err != nil || len(f.warnings()) > 0 {
		t.Errorf("the child ended with %v, warnings %q", err, f.warnings())
	}
}

func (f *family) wantPage(address, dir string, campaign bool) {
	f.t.Helper()
	to, err := url.Parse(f.URL)
	if err != nil {
		f.t.Fatal(err)
	}
	to.Path = address
	var p *pages.Page
	if campaign {
		c, err := result.ReadCampaign(dir)
		if err != nil {
			f.t.Fatal(err)
		}
		if p, err = pages.Study(c, ""); err != nil {
			f.t.Fatal(err)
		}
	} else {
		r, err := result.Read(dir)
		if err != nil {
			f.t.Fatal(err)
		}
		p = pages.Run(r)
	}
	var report bytes.Buffer
	if err := p.Write(&report, pages.Options{}); err != nil {
		f.t.Fatal(err)
	}
	if got, want := mainOf(f.t, fetch(f.t, to.String())), mainOf(f.t, report.String()); got != want {
		f.t.Errorf("the page of %s is not that of its report: %d bytes and %d", dir, len(got), len(want))
	}
}

func TestLiveCampaign(t *testing.T) {
	s := newShelf(t)
	f := mustConnect(t, Options{Page: anyPort(t)})
	b := f.look()
	first, second := s.record("base", 1), s.record("base", 2)
	s.campaign("20261121T190000Z-my-study-k3x7qa", "base", first, second)
	library := s.open()
	f.Campaign(library.path("20261121T190000Z-my-study-k3x7qa"))
	for i, run := range []string{first, second} {
		f.Progress(Progress{Run: i + 1, Of: 2, Text: "run of 2"})
		f.Run(library.path(run))
		s := b.until("the run", func(s state) bool { return strings.HasSuffix(s.Run, run[len(run)-6:]) && s.Done == i })
		if s.Name != "my-study" || s.Of != 2 || s.Progress != "run of 2" || s.Ended {
			t.Errorf("%s: name %q, %d of %d, progress %q, ended %t", run, s.Name, s.Done, s.Of, s.Progress, s.Ended)
		}
	}
	go f.Finish()
	f.wantPage(b.until("the end", func(s state) bool { return s.Ended }).Page, library.path("20261121T190000Z-my-study-k3x7qa"), true)
	b.body.Close()
	if err := <-f.ended; err != nil {
		t.Error(err)
	}
}

func TestRunThatCannotBeFollowed(t *testing.T) {
	s := newShelf(t)
	folder := s.record("base", 0)
	s.write(filepath.Join(folder, result.IntervalsFile), "no interval\n")
	f := mustConnect(t, Options{Page: anyPort(t)})
	b := f.look()
	f.Run(s.open().path(folder))
	f.Status("goes on")
	go f.Finish()
	last := b.until("the end", func(s state) bool { return s.Ended })
	if !strings.Contains(last.Status, "cannot follow the run in "+folder) || !strings.Contains(last.Status, result.IntervalsFile) {
		t.Errorf("the status is %q", last.Status)
	}
	b.body.Close()
	<-f.ended
}

func TestAddressIsLost(t *testing.T) {
	l, err := newLive(t.Context(), setup{Page: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.page.Close(); err != nil {
		t.Fatal(err)
	}
	in, _ := io.Pipe()
	defer in.Close()
	if err := l.serve(t.Context(), json.NewDecoder(in)); err == nil || !strings.Contains(err.Error(), "serving pages") {
		t.Errorf("error %v", err)
	}
}

// If nothing was recorded, or the recording was removed, the page says that the run ended.
func TestNothingRecorded(t *testing.T) {
	for what, begin := range map[string]func(*family, string){
		"nothing":    func(*family, string) {},
		"a run":      func(f *family, dir string) { f.Run(dir) },
		"a campaign": func(f *family, dir string) { f.Campaign(dir) },
	} {
		f := mustConnect(t, Options{Page: anyPort(t)})
		b := f.look()
		begin(f, filepath.Join(t.TempDir(), "discarded"))
		go f.Finish()
		if s := b.until("the end", func(s state) bool { return s.Ended }); s.Page != "" {
			t.Errorf("%s: there is a page %s", what, s.Page)
		}
		b.body.Close()
		if err := <-f.ended; err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestAddressIsTaken(t *testing.T) {
	f := mustConnect(t, Options{Page: anyPort(t)})
	defer f.Close()
	taken, err := ParseAddress(strings.Trim(strings.TrimPrefix(f.URL, "http://"), "/"))
	if err != nil {
		t.Fatal(err)
	}
	for flag, o := range map[string]Options{
		"--web": {Page: &taken}, "--metrics": {Page: anyPort(t), Metrics: &taken},
	} {
		other, err := connect(t, o)
		if want := flag + ": " + taken.String() + ": " + errTaken.Error(); err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
		if err := <-other.ended; err != nil {
			t.Error(err)
		}
	}
}

func TestMetricsNeedAToken(t *testing.T) {
	everywhere := Address{host: "0.0.0.0", port: "0"}
	if _, err := connect(t, Options{Metrics: &everywhere}); !strings.HasSuffix(fmt.Sprint(err), ErrReached.Error()) {
		t.Errorf("error %v", err)
	}
	f := mustConnect(t, Options{Metrics: &everywhere, Token: newToken()})
	f.Close()
	<-f.ended
}

func TestLostChild(t *testing.T) {
	f := mustConnect(t, Options{Page: anyPort(t)})
	f.kill()
	<-f.ended
	<-f.gone
	for range 3 * mostQueued {
		f.Run("runs/none")
		f.Status("goes on")
	}
	f.Finish()
	if w := f.warnings(); len(w) != 1 || !strings.Contains(w[0], "the run goes on") {
		t.Errorf("warnings %q", w)
	}
}

func TestSlowChild(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inChild, in := io.Pipe()
		out, outChild := io.Pipe()
		go func() { // it answers, and then stops reading
			_, _ = bufio.NewReaderSize(inChild, 16).ReadString('\n')
			_, _ = io.WriteString(outChild, "{}\n")
		}()
		warned := 0
		p, err := Connect(in, out, Options{Warn: func(string) { warned++ }})
		if err != nil {
			t.Fatal(err)
		}
		p.Status("is being written")
		synctest.Wait()
		for range 100 {
			p.Status("waits")
		}
		for range mostQueued - mostStatuses {
			p.Run("runs/some")
		}
		if p.Dropped() != 100-mostStatuses || warned != 0 {
			t.Errorf("%d statuses were dropped, %d warnings", p.Dropped(), warned)
		}
		p.Run("runs/one more")
		p.Run("runs/one more")
		if warned != 1 {
			t.Errorf("%d warnings of a child that takes nothing", warned)
		}
		began := time.Now()
		p.Finish()
		if took := time.Since(began); took != endTimeout {
			t.Errorf("the end took %v", took)
		}
		outChild.Close()
	})
}

func TestFinishWaits(t *testing.T) {
	for what, c := range map[string]struct {
		tab, scrape bool
		measured    bool
		after       time.Duration
		want        time.Duration
	}{
		"nobody":                   {false, false, true, 0, 0},
		"a tab that stays":         {true, false, true, time.Hour, tabsTimeout},
		"a tab that goes":          {true, false, true, time.Second, time.Second},
		"nobody scrapes":           {false, true, true, time.Hour, scrapeTimeout},
		"a scrape":                 {false, true, true, 2 * time.Second, 2 * time.Second},
		"a tab and a scrape":       {true, true, true, 3 * time.Second, 3 * time.Second},
		"neither goes or comes":    {true, true, true, time.Hour, scrapeTimeout},
		"a tab, and late scrape":   {true, true, true, tabsTimeout + time.Second, tabsTimeout + time.Second},
		"a run that did not begin": {false, true, false, time.Hour, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			l := &live{page: &Door{}, tabs: newTabs(), stop: func() {}, measured: c.measured}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if c.scrape {
				l.scrapes = &scrapes{
					door: doorAt(t, "127.0.0.1:9400", ""), done: make(chan struct{}, 1),
					handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}),
				}
				scrape(l.scrapes) // before the end, so it does not count
			}
			var open chan []byte
			if c.tab {
				open = l.tabs.join()
			}
			go func() {
				select {
				case <-time.After(c.after):
				case <-ctx.Done():
					return
				}
				if c.tab {
					l.tabs.leave(open)
				}
				if c.scrape {
					scrape(l.scrapes)
				}
			}()
			began := time.Now()
			l.finish(ctx, nil)
			if took := time.Since(began); took != c.want {
				t.Errorf("%s: the end took %v, want %v", what, took, c.want)
			}
		})
	}
}

// An agent records its part of a run in a folder that never says that the part has ended. So the
// part counts as measured from its first interval.
func TestEndOfAPartIsScraped(t *testing.T) {
	for _, agent := range []bool{false, true} {
		l := &live{seen: &seen{}, agent: agent}
		l.follow(followed{Change: follow.Change{Run: &result.Run{}}}, true)
		if l.measured {
			t.Errorf("agent %v: a run without intervals counts as measured", agent)
		}
		l.follow(followed{Change: follow.Change{Intervals: []result.Interval{{EndNs: 1e9}}}}, true)
		if l.measured != agent {
			t.Errorf("agent %v: measured is %v", agent, l.measured)
		}
	}
}

func TestTabsHaveTheirTimeAfterTheLastPage(t *testing.T) {
	s := newShelf(t)
	dir := s.open().path(s.record("base", 0))
	synctest.Test(t, func(t *testing.T) {
		l := &live{page: &Door{}, tabs: newTabs(), stop: func() {}, subject: dir}
		l.recorded = sync.OnceValues(func() ([]byte, error) {
			time.Sleep(2 * tabsTimeout)
			return nil, nil
		})
		l.tabs.join()
		began := time.Now()
		l.finish(t.Context(), nil)
		if took := time.Since(began); took != 3*tabsTimeout {
			t.Errorf("the end took %v, want %v", took, 3*tabsTimeout)
		}
	})
}

func scrape(s *scrapes) {
	r := httptest.NewRequest(http.MethodGet, metricsPath, nil)
	r.Host = "localhost"
	s.ServeHTTP(httptest.NewRecorder(), r)
}

func TestMetrics(t *testing.T) {
	token := newToken()
	f := mustConnect(t, Options{Metrics: anyPort(t), Token: token, Agent: "3", Host: "node-d"})
	s := newShelf(t)
	folder := s.record("base", 0)
	f.Run(s.open().path(folder))
	ask := func(method, path, host, authorization string) (int, string) {
		r, err := http.NewRequestWithContext(t.Context(), method, strings.Replace(f.Metrics, metricsPath, path, 1), nil)
		if err != nil {
			t.Fatal(err)
		}
		if host != "" {
			r.Host = host
		}
		if authorization != "" {
			r.Header.Set("Authorization", authorization)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			return 0, ""
		}
		defer answer.Body.Close()
		text, _ := io.ReadAll(answer.Body)
		return answer.StatusCode, string(text)
	}
	bearer := "Bearer " + token
	for what, c := range map[string]struct {
		method, path, host, authorization string
		want                              int
	}{
		"nothing":         {"GET", metricsPath, "", "", 401},
		"a wrong token":   {"GET", metricsPath, "", "Bearer " + newToken(), 401},
		"no bearer":       {"GET", metricsPath, "", token, 401},
		"another host":    {"GET", metricsPath, "evil.example", bearer, 421},
		"another method":  {"POST", metricsPath, "", bearer, 405},
		"another address": {"GET", "/", "", bearer, 404},
	} {
		if got, _ := ask(c.method, c.path, c.host, c.authorization); got != c.want {
			t.Errorf("with %s: %d, want %d", what, got, c.want)
		}
	}
	go f.Finish()
	var last string
	for {
		status, text := ask("GET", metricsPath, "", bearer)
		if status == 0 {
			break
		}
		last = text
	}
	if !strings.Contains(last, `kafka_bench_run_phase{agent="3",host="node-d",`) || !strings.Contains(last, `phase="ended"`) {
		t.Errorf("the last scrape is not of the end:\n%.600s", last)
	}
	if err := <-f.ended; err != nil {
		t.Error(err)
	}
}
