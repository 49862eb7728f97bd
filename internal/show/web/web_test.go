package web

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/resulttest"
)

type shelf struct {
	t   testing.TB
	dir string
	run *result.Recorded
}

// baseline takes long to make, so tests share it and only read it.
var baseline = sync.OnceValue(func() *result.Recorded { return resulttest.Baseline().Run() })

func newShelf(t testing.TB) *shelf {
	t.Helper()
	return &shelf{t: t, dir: t.TempDir(), run: baseline()}
}

func (s *shelf) record(name string, minutes int) string {
	s.t.Helper()
	r := *s.run
	r.Run.Run.Name = name
	r.Run.Run.StartedAt = r.Run.Run.StartedAt.Add(time.Duration(minutes) * time.Minute)
	w, err := result.Create(s.dir, name, r.Run.Run.StartedAt)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, i := range r.Intervals {
		if err := w.Interval(i); err != nil {
			s.t.Fatal(err)
		}
	}
	for _, e := range r.Events {
		if err := w.Event(e); err != nil {
			s.t.Fatal(err)
		}
	}
	if err := w.Finish(r.Run); err != nil {
		s.t.Fatal(err)
	}
	return filepath.Base(w.Dir())
}

func (s *shelf) write(name, text string) {
	s.t.Helper()
	file := filepath.Join(s.dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		s.t.Fatal(err)
	}
}

func (s *shelf) campaign(folder, name string, runs ...string) {
	s.t.Helper()
	c := result.Campaign{
		SchemaVersion: 1, Cells: []result.Cell{{Name: name, Scenario: s.run.Run.Scenario}},
		Campaign: result.CampaignInfo{
			ID: "k3x7qa", Name: name, Kind: result.KindRuns, Question: "Is it fast?", Order: "interleaved", Repeat: len(runs),
			StartedAt: resulttest.StartedAt, FinishedAt: resulttest.StartedAt,
		},
	}
	for round, run := range runs {
		c.Runs = append(c.Runs, result.CampaignRun{Round: round, Dir: result.Beside(run), Status: result.Valid})
	}
	text, err := json.Marshal(c)
	if err != nil {
		s.t.Fatal(err)
	}
	s.write(filepath.Join(folder, result.CampaignFile), string(text))
}

func (s *shelf) open() *Library {
	s.t.Helper()
	l, err := OpenLibrary(s.dir)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { l.Close() })
	return l
}

func get(h http.Handler, address string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, address, nil))
	return w
}

type opens struct {
	fs.FS
	summaries atomic.Int64
}

func (o *opens) Open(name string) (fs.File, error) {
	if strings.HasSuffix(name, result.SummaryFile) {
		o.summaries.Add(1)
	}
	return o.FS.Open(name)
}

func (o *opens) Stat(name string) (fs.FileInfo, error) { return fs.Stat(o.FS, name) }

// A page of 50 of 1,000 runs opens 50 summaries. It opens no unchanged summary again. A filter by
// verdict reads until its page is full.
func TestListOpensWhatItShows(t *testing.T) {
	s := newShelf(t)
	for i := range 1000 {
		name := []string{"sweep-acks", "sweep-payload", "slow-consumer"}[i%3]
		status := result.Valid
		if i%100 == 0 {
			status = result.Invalid
		}
		s.write(fmt.Sprintf("20261122T%02d%02d%02dZ-%s-aaaaaa/run.json", i/3600, i/60%60, i%60, name),
			fmt.Sprintf(`{"schema_version":1,"run":{"id":"aaaaaa","name":%q,"started_at":"2026-11-22T00:00:00Z","finished_at":"2026-11-22T00:01:00Z"},"verdict":{"status":%q}}`,
				name, status))
	}
	l := s.open()
	counted := &opens{FS: l.fsys}
	l.fsys = counted
	h := l.Handler()
	for _, c := range []struct {
		query string
		opens int64
		shown string
	}{
		{"", 50, "Runs 1 to 50 of 1,000"},
		{"", 0, "Runs 1 to 50 of 1,000"},
		{"?page=20", 50, "Runs 951 to 1,000 of 1,000"},
		{"?name=Slow+Consumer&page=7", 17, "Runs 301 to 333 of 333"}, // page 20 of all runs opened the others
		{"?category=sweep&from=2026-11-22&to=2026-11-22&page=14", 0, "Runs 651 to 667 of 667"},
		{"?category=sweep&from=2026-11-23", 0, "No run fits."},
		{"?verdict=invalid&name=payload", 300, "Runs 1 to 3"},
		{"?verdict=unfinished&name=payload", 0, "No run fits."},
	} {
		before := counted.summaries.Load()
		w := get(h, "/"+c.query)
		if got := counted.summaries.Load() - before; got != c.opens || !strings.Contains(w.Body.String(), c.shown) || w.Code != http.StatusOK {
			t.Errorf("%q: %d, opened %d summaries, want %d, and %q: %t", c.query, w.Code, got, c.opens, c.shown,
				strings.Contains(w.Body.String(), c.shown))
		}
	}
	page := get(h, "/").Body.String()
	for _, want := range []string{`<a href="/?category=sweep">sweep</a>`, "667 runs", "2 scenarios", `<a href="/?category=slow-consumer">slow-consumer</a>`,
		"333 runs", "1 scenario<", `<a rel="next" href="/?page=2">`} {
		if !strings.Contains(page, want) {
			t.Errorf("the list has no %s", want)
		}
	}
}

func TestListIsOfThePresent(t *testing.T) {
	s := newShelf(t)
	folder := s.record("first", 0)
	h := s.open().Handler()
	_ = get(h, "/")
	s.write(filepath.Join(folder, result.SummaryFile), `{"schema_version":1,"run":{"id":"aaaaaa","name":"renamed"}}`)
	if page := get(h, "/").Body.String(); !strings.Contains(page, "renamed") {
		t.Error("the list is of a run.json that is not there any more")
	}
}

func TestRows(t *testing.T) {
	s := newShelf(t)
	first, second := s.record("base", 1), s.record("base", 2)
	s.campaign("20261121T190000Z-base-k3x7qa", "base", first)
	s.write("20261121T190100Z-broken-aaaaaa/run.json", `{"schema_version":1,`)
	s.write("20261121T190200Z-newer-aaaaaa/run.json", `{"schema_version":99}`)
	s.write("notes/readme.txt", "no run")
	killed, err := result.Create(s.dir, "killed", time.Unix(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	page := get(s.open().Handler(), "/").Body.String()
	run := s.run.Run
	for what, want := range map[string]string{
		"the offered rate": fmt.Sprintf(`<data value="%v" data-figure="offered_per_s">`, run.Load.OfferedPerS),
		"the lag":          fmt.Sprintf(`<data value="%d" data-figure="lag_peak">`, *run.Lag.PeakRecords),
		"a p99":            fmt.Sprintf(`<data value="%d" data-figure="e2e_response_time_p99">`, run.Time["e2e_response_time"].P99Ns),
		"a link":           `<a href="/runs/` + second + `">base</a>`,
		"the campaign":     `<a href="/campaigns/20261121T190000Z-base-k3x7qa">base</a>`,
		"a box of the set": `name="b" value="20261121T190000Z-base-k3x7qa"`,
		"a broken file":    "unexpected end of JSON input",
		"a newer file":     "has schema_version 99",
		"a killed run":     `not finished, last line `,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the list does not have %s: %s", what, want)
		}
	}
	if strings.Contains(page, "<b>") || strings.Contains(page, "notes") {
		t.Error("the list has what it should not")
	}
	if campaign, member := strings.Index(page, "/campaigns/"), strings.Index(page, "/runs/"+first); campaign > member || member < 0 {
		t.Error("a campaign does not stand above its run")
	}
	_ = killed.Discard()
}

func TestAddresses(t *testing.T) {
	s := newShelf(t)
	a, b := s.record("base", 1), s.record("base", 2)
	c := s.record("other", 3)
	s.campaign("20261121T190000Z-base-k3x7qa", "base", a, b)
	s.write("20261121T190100Z-broken-aaaaaa/run.json", `{"schema_version":1,`)
	h := s.open().Handler()
	for address, want := range map[string]struct {
		status int
		text   string
	}{
		"/":          {200, "Runs in "},
		"/runs/" + a: {200, "History of base"},
		"/runs/" + c: {200, "– Run –"},
		"/campaigns/20261121T190000Z-base-k3x7qa": {200, `href="/runs/` + a},
		"/history/base":                                  {200, "– History –"},
		"/compare?a=" + a + "&b=" + c:                    {200, "other against base"},
		"/compare?a=20261121T190000Z-base-k3x7qa&b=" + c: {200, "other against base"},
		"/compare?a=" + a:                                {400, "tick one of each"},
		"/compare?a=" + a + "&b=" + a:                    {400, a[len(a)-6:]},
		"/?verdict=good&from=yesterday&page=0":           {400, "is no day"},
		"/?page=1000000":                                 {200, ""},
		"/?page=184467440737095518":                      {400, "counted from 1 to 1000000"},
		"/runs/20261121T190100Z-broken-aaaaaa":           {500, "unexpected end of JSON input"},
		"/runs/none":                                     {404, "none"},
		"/history/none":                                  {404, "no run is named none"},
		"/assets/page.css":                               {200, ".runs"},
		"/assets/live.js":                                {200, "EventSource"},
		"/assets/doc.go":                                 {404, ""},
		"/none":                                          {404, ""},
	} {
		if w := get(h, address); w.Code != want.status || !strings.Contains(w.Body.String(), want.text) {
			t.Errorf("%s: %d, want %d with %q:\n%.300s", address, w.Code, want.status, want.text, w.Body)
		}
	}
}

func TestAssetsAreSmall(t *testing.T) {
	bytes := 0
	for _, text := range assets() {
		bytes += len(text)
	}
	if bytes > 60<<10 {
		t.Errorf("style and scripts have %d bytes", bytes)
	}
}

func TestNothingOutsideIsServed(t *testing.T) {
	outside, s := newShelf(t), newShelf(t)
	stranger := outside.record("stranger", 0)
	inside := s.record("inside", 0)
	link := func(to, from string) {
		if err := os.Symlink(to, filepath.Join(s.dir, from)); err != nil {
			t.Fatal(err)
		}
	}
	link(filepath.Join(outside.dir, stranger), "linked")
	intervals := filepath.Join(inside, result.IntervalsFile)
	if err := os.Remove(filepath.Join(s.dir, intervals)); err != nil {
		t.Fatal(err)
	}
	link(filepath.Join(outside.dir, stranger, result.IntervalsFile), intervals)
	h := s.open().Handler()
	back := ".." + "%2f" + filepath.Base(outside.dir) + "%2f" + stranger
	for _, address := range []string{
		"/runs/linked", "/runs/" + back, "/campaigns/" + back, "/history/linked", "/runs/..", "/runs/.", "/assets/..%2fdoc.go",
		"/runs/" + strings.ReplaceAll(outside.dir, "/", "%2f") + "%2f" + stranger,
	} {
		if w := get(h, address); w.Code != http.StatusNotFound && w.Code != http.StatusTemporaryRedirect || strings.Contains(w.Body.String(), "stranger –") {
			t.Errorf("%s: %d\n%.300s", address, w.Code, w.Body)
		}
	}
	if w := get(h, "/runs/"+inside); w.Code != http.StatusInternalServerError || !strings.Contains(w.Body.String(), result.IntervalsFile+" is a link, and a run has only files") {
		t.Errorf("a file that is a link: %d\n%.300s", w.Code, w.Body)
	}
	if w := get(h, "/compare?a=../"+filepath.Base(outside.dir)+"/"+stranger+"&b="+inside); w.Code != http.StatusBadRequest {
		t.Errorf("a comparison with what is outside: %d", w.Code)
	}
}
