package web

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/show/analysis"
	"kafkabench.example/kafka-bench/internal/show/compared"
	"kafkabench.example/kafka-bench/internal/show/layout"
	"kafkabench.example/kafka-bench/internal/show/pages"
)

// links are the addresses of a server's pages, or relative ones between files.
type links struct {
	base   string // the path to the list
	static bool
}

var ofServer = links{base: "/"}

func (l links) page(parts ...string) string {
	for i, part := range parts {
		parts[i] = url.PathEscape(part)
	}
	address := l.base + strings.Join(parts, "/")
	if l.static {
		address += ".html"
	}
	return address
}

func (l links) run(folder string) string      { return l.page("runs", folder) }
func (l links) campaign(folder string) string { return l.page("campaigns", folder) }
func (l links) history(name string) string    { return l.page("history", name) }

func (l links) list() string {
	if l.static {
		return l.page("index")
	}
	return l.base
}

func (l links) category(name string) string {
	if l.static {
		return l.page("categories", name)
	}
	return l.base + "?" + filter{Category: name}.query(1)
}

// assets is the beginning of the addresses of style and scripts; "" makes the page contain them.
func (l links) assets() string {
	if l.static {
		return ""
	}
	return l.base + "assets/"
}

type site struct {
	lib  *Library
	busy *turnstile
}

func (s *site) html(p *pages.Page, c *catalog, l links, more ...pages.Link) ([]byte, error) {
	all := append([]pages.Link{{Text: "All runs", Href: l.list()}}, more...)
	css := "" // of a page that contains its style
	if p.Kind == "List" {
		all, css = nil, siteCSS
	}
	var b bytes.Buffer
	err := p.Write(&b, pages.Options{
		Assets: l.assets(), CSS: css, Links: all,
		Href: func(dir string) string {
			folder := s.lib.folder(dir)
			if _, known := c.known[folder]; !known {
				return ""
			}
			return l.run(folder)
		},
	})
	return b.Bytes(), err
}

func (s *site) run(folder string, c *catalog, l links) ([]byte, error) {
	p, err := s.lib.page(folder, false)
	if err != nil {
		return nil, err
	}
	return s.html(p, c, l, c.around(folder, l)...)
}

func (c *catalog) around(folder string, l links) (around []pages.Link) {
	if campaign, some := c.of[folder]; some {
		around = append(around, pages.Link{Text: "Its campaign", Href: l.campaign(campaign)})
	}
	if name := c.known[folder].name; c.named[name] > 1 {
		around = append(around, pages.Link{Text: "History of " + name, Href: l.history(name)})
	}
	return around
}

func (s *site) campaign(folder string, c *catalog, l links) ([]byte, error) {
	p, err := s.lib.page(folder, true)
	if err != nil {
		return nil, err
	}
	return s.html(p, c, l)
}

func (s *site) history(name string, c *catalog, l links) ([]byte, error) {
	var runs []*result.Recorded
	for _, run := range c.runs {
		if run.name != name {
			continue
		}
		if r, err := s.lib.summary(run.folder); err == nil { // skip a run that cannot be read
			runs = append(runs, r)
		}
	}
	if len(runs) == 0 {
		return nil, fmt.Errorf("no run is named %s: %w", name, fs.ErrNotExist)
	}
	h, err := analysis.Over(runs, analysis.HistoryOptions{MinChange: analysis.DefaultMinChange})
	if err != nil {
		return nil, err
	}
	return s.html(pages.History(compared.HistoryOf(h)), c, l)
}

const mostCompared = 100

// a and b are the folders of the two sets: folders of runs, or of campaigns with one scenario.
func (s *site) comparison(a, b []string, c *catalog, l links) ([]byte, error) {
	if len(a) == 0 || len(b) == 0 {
		return nil, badRequest{errors.New("a comparison needs a run in A and another in B: tick one of each")}
	}
	setA, errA := s.set("A", a, c)
	setB, errB := s.set("B", b, c)
	if err := errors.Join(errA, errB); err != nil {
		return nil, badRequest{err}
	}
	if setA.Label == setB.Label {
		setA.Label, setB.Label = setA.Label+" (A)", setB.Label+" (B)"
	}
	found, err := analysis.Compare([]analysis.Set{setA, setB}, analysis.CompareOptions{})
	if err != nil {
		return nil, badRequest{err}
	}
	return s.html(pages.Comparison(compared.ComparisonOf(found)), c, l)
}

func (s *site) set(letter string, folders []string, c *catalog) (set analysis.Set, err error) {
	if len(folders) > mostCompared {
		return set, fmt.Errorf("set %s has more than %d folders; tick fewer, or use kafka-bench compare", letter,
			mostCompared)
	}
	var faults []error
	var names []string
	for _, folder := range folders {
		member, err := s.member(folder, c)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		set.Runs, set.Missing = append(set.Runs, member.Runs...), set.Missing+member.Missing
		if !slices.Contains(names, member.Label) {
			names = append(names, member.Label)
		}
	}
	if set.Label = layout.Enumerate(names); len(names) > 3 {
		set.Label = layout.Enumerate(append(names[:3:3], "others"))
	}
	return set, errors.Join(faults...)
}

func (s *site) member(folder string, c *catalog) (analysis.Set, error) {
	if _, isRun := c.known[folder]; isRun {
		r, err := s.lib.run(folder)
		if err != nil {
			return analysis.Set{}, err
		}
		return analysis.Set{Label: r.Run.Run.Name, Runs: []*result.Recorded{r}}, nil
	}
	recorded, err := s.lib.campaign(folder)
	if err != nil {
		return analysis.Set{}, err
	}
	if n := len(recorded.Campaign.Cells); n != 1 {
		return analysis.Set{}, fmt.Errorf("%s is a campaign of %d scenarios, which are no set; tick runs of one of them",
			folder, n)
	}
	return analysis.CellSet(recorded, 0), nil
}

func (s *site) failure(title string, err error, l links) ([]byte, error) {
	p := &pages.Page{Kind: "No page", Title: title, Remarks: []pages.Text{{Tone: pages.Bad, Text: err.Error()}}}
	return s.html(p, &catalog{}, l)
}

type badRequest struct{ error }

func (e badRequest) Unwrap() error { return e.error }

func statusOf(err error) int {
	var bad badRequest
	var file *fs.PathError // also for a link out of the folder
	switch {
	case errors.As(err, &bad):
		return http.StatusBadRequest
	case errors.Is(err, errBusy):
		return http.StatusServiceUnavailable
	case errors.Is(err, result.ErrNotARun), errors.Is(err, result.ErrNotACampaign), errors.As(err, &file),
		errors.Is(err, fs.ErrNotExist):
		return http.StatusNotFound
	}
	return http.StatusInternalServerError // a file that cannot be read
}

// Handler serves the pages of the library.
func (l *Library) Handler() http.Handler {
	s := &site{lib: l, busy: newTurnstile()}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.serveList)
	mux.HandleFunc("GET /assets/{file}", serveAsset)
	s.handle(mux, "GET /runs/{name}", func(r *http.Request, c *catalog) ([]byte, error) {
		return s.run(r.PathValue("name"), c, ofServer)
	})
	s.handle(mux, "GET /campaigns/{name}", func(r *http.Request, c *catalog) ([]byte, error) {
		return s.campaign(r.PathValue("name"), c, ofServer)
	})
	s.handle(mux, "GET /history/{name}", func(r *http.Request, c *catalog) ([]byte, error) {
		return s.history(r.PathValue("name"), c, ofServer)
	})
	s.handle(mux, "GET /compare", func(r *http.Request, c *catalog) ([]byte, error) {
		q := r.URL.Query()
		return s.comparison(q["a"], q["b"], c, ofServer)
	})
	return mux
}

// handle limits how many pages are made at once, because they read whole runs.
func (s *site) handle(mux *http.ServeMux, pattern string, make func(*http.Request, *catalog) ([]byte, error)) {
	mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		c, err := s.lib.catalog()
		var page []byte
		if err == nil {
			err = s.busy.pass(r.Context(), func() (err error) {
				page, err = make(r, c)
				return err
			})
		}
		s.answer(w, path.Base(r.URL.Path), page, err)
	})
}

func (s *site) serveList(w http.ResponseWriter, r *http.Request) {
	page, status, err := s.listPage(r.URL.Query())
	if err != nil {
		s.answer(w, "Runs", nil, err)
		return
	}
	write(w, status, page)
}

// For a query with mistakes, listPage returns the whole list with the mistakes above it.
func (s *site) listPage(q url.Values) (page []byte, status int, err error) {
	c, err := s.lib.catalog()
	if err != nil {
		return nil, 0, err
	}
	f, fault := filterOf(q)
	if fault != nil {
		f = filter{Page: 1}
	}
	list := s.list(c, ofServer, f, rowsPerPage)
	status = http.StatusOK
	if fault != nil {
		list.Faults, status = strings.Split(fault.Error(), "\n"), http.StatusBadRequest
	}
	p, err := list.page()
	if err != nil {
		return nil, 0, err
	}
	page, err = s.html(p, c, ofServer)
	return page, status, err
}

func (s *site) answer(w http.ResponseWriter, title string, page []byte, err error) {
	status := http.StatusOK
	if err != nil {
		status = statusOf(err)
		if page, err = s.failure(title, err, ofServer); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
	}
	write(w, status, page)
}

func write(w http.ResponseWriter, status int, page []byte) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(len(page)))
	w.WriteHeader(status)
	_, _ = w.Write(page) // the client may be gone
}

func serveAsset(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("file")
	text, kind := assets()[name], "text/javascript; charset=utf-8"
	if name == "page.css" {
		kind = "text/css; charset=utf-8"
	}
	if text == "" {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", kind)
	_, _ = w.Write([]byte(text))
}

func assets() map[string]string {
	all := map[string]string{"page.css": pages.Style() + siteCSS, "live.js": liveJS}
	for name, script := range pages.Scripts() {
		all[name] = script
	}
	return all
}

// turnstile limits the number of concurrent calls, and of calls that wait.
type turnstile struct {
	slots   chan struct{}
	waiting atomic.Int32
}

const (
	atOnce      = 2
	mostWaiting = 16
)

func newTurnstile() *turnstile { return &turnstile{slots: make(chan struct{}, atOnce)} }

var errBusy = errors.New("too many pages are asked for at once; try again in a moment")

func (t *turnstile) pass(ctx context.Context, f func() error) error {
	if t.waiting.Add(1) > mostWaiting+atOnce {
		t.waiting.Add(-1)
		return errBusy
	}
	defer t.waiting.Add(-1)
	select {
	case t.slots <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-t.slots }()
	return f()
}
