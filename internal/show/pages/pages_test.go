package pages_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/resulttest"
	"kafkabench.example/kafka-bench/internal/show/analysis"
	"kafkabench.example/kafka-bench/internal/show/campaigns"
	"kafkabench.example/kafka-bench/internal/show/compared"
	"kafkabench.example/kafka-bench/internal/show/pages"
	"kafkabench.example/kafka-bench/internal/show/report"
	"kafkabench.example/kafka-bench/internal/show/showtest"
)

func written(t *testing.T, p *pages.Page, o pages.Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := p.Write(&b, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

type datum struct {
	figure, stat, of string
	atLeast          bool
	value            float64
}

var dataElement = regexp.MustCompile(`<data value="([^"]*)" data-figure="([^"]*)"(?: data-stat="([^"]*)")?(?: data-of="([^"]*)")?( data-bound="at-least")?>[^<]+</data>`)

func dataOf(t *testing.T, page string) (all []datum) {
	t.Helper()
	found := dataElement.FindAllStringSubmatch(page, -1)
	if n := strings.Count(page, "<data "); n != len(found) {
		t.Errorf("%d of %d elements <data> are as they should be", len(found), n)
	}
	for _, m := range found {
		v, err := strconv.ParseFloat(m[1], 64)
		if err != nil {
			t.Errorf("%s: %v", m[0], err)
		}
		all = append(all, datum{html.UnescapeString(m[2]), html.UnescapeString(m[3]), html.UnescapeString(m[4]), m[5] != "", v})
	}
	return all
}

func decoded(t *testing.T, write func(*bytes.Buffer, report.Options) error) (document map[string]any) {
	t.Helper()
	if err := json.Unmarshal(showtest.Written(t, write, report.Options{Format: report.AsJSON}), &document); err != nil {
		t.Fatal(err)
	}
	return document
}

func broken(t *testing.T) *result.Recorded {
	r := showtest.Simulate(t, resulttest.Overload())
	info := r.Run.Run
	info.FinishedAt = info.FinishedAt.Truncate(0)
	r.Run = result.Run{SchemaVersion: 1, Run: result.Info{ID: info.ID, Name: info.Name, StartedAt: info.StartedAt, Tool: info.Tool},
		Scenario: r.Run.Scenario, Verdict: result.Verdict{Status: result.Invalid, Reasons: []string{"the run did not finish"}}}
	return r
}

func TestRunHasTheFiguresOfItsJSON(t *testing.T) {
	for _, r := range []*result.Recorded{
		showtest.Simulate(t, resulttest.Baseline()), showtest.Simulate(t, resulttest.OverloadTight()), broken(t),
		showtest.Agents(t, 3), showtest.Imported("producer"), showtest.TimesAlone("times"),
	} {
		run := decoded(t, func(b *bytes.Buffer, o report.Options) error { return report.Runs(b, []*result.Recorded{r}, o) })["runs"].([]any)[0].(map[string]any)
		wanted := map[string]float64{}
		for name, v := range run["figures"].(map[string]any) {
			if v != nil {
				wanted[name] = v.(float64)
			}
		}
		seen := map[string]bool{}
		for _, d := range dataOf(t, written(t, pages.Run(r), pages.Options{})) {
			if d.atLeast {
				if bound := run["at_least"].(map[string]any)[d.figure]; bound != d.value {
					t.Errorf("%s: at least %s is %v, want %v", r.Run.Run.Name, d.figure, d.value, bound)
				}
				continue
			}
			seen[d.figure] = true
			if v, has := wanted[d.figure]; !has || v != d.value {
				t.Errorf("%s: %s is %v, want %v", r.Run.Run.Name, d.figure, d.value, v)
			}
		}
		for name := range wanted {
			if !seen[name] {
				t.Errorf("%s: the page has no %s", r.Run.Run.Name, name)
			}
		}
	}
}

func sweep(t *testing.T) *result.RecordedCampaign {
	m := showtest.NewMaker(t, 5)
	c := &result.RecordedCampaign{Dir: "runs/sweep", Campaign: result.Campaign{
		SchemaVersion: 1, Axes: []result.Axis{{Path: "load.compression", Values: []string{"none", "lz4", "zstd"}}},
		Campaign: result.CampaignInfo{
			ID: "c4wq7d", Name: "sweep-compression", Kind: result.KindRuns, Question: "Which codec is the fastest?",
			StartedAt: resulttest.StartedAt, FinishedAt: resulttest.StartedAt, Order: "interleaved", Repeat: 5,
		},
	}}
	for cell, codec := range c.Campaign.Axes[0].Values {
		c.Campaign.Cells = append(c.Campaign.Cells, result.Cell{Name: "sweep-" + codec, Values: []string{codec}})
		for round := range 5 {
			r := m.Run("sweep-"+codec, 1+float64(cell)/4, showtest.Set("compression", codec))
			c.Runs = append(c.Runs, r)
			c.Campaign.Runs = append(c.Campaign.Runs, result.CampaignRun{Cell: cell, Round: round, Dir: r.Dir, Status: result.Valid})
		}
	}
	return c
}

func comparison(t *testing.T) *compared.Comparison {
	m := showtest.NewMaker(t, 1)
	sets := []analysis.Set{{Label: "baseline"}, {Label: "zstd"}}
	for range 6 {
		sets[0].Runs = append(sets[0].Runs, m.Run("baseline", 1, nil))
		sets[1].Runs = append(sets[1].Runs, m.Run("zstd", 1.2, showtest.Set("compression", "zstd")))
	}
	c, err := analysis.Compare(sets, analysis.CompareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return compared.ComparisonOf(c)
}

func history(t *testing.T) *compared.History {
	m := showtest.NewMaker(t, 9)
	var runs []*result.Recorded
	for i := range 20 {
		runs = append(runs, m.Run("nightly", 1+0.3*float64(i/12), nil))
	}
	h, err := analysis.Over(runs, analysis.HistoryOptions{MinChange: analysis.DefaultMinChange})
	if err != nil {
		t.Fatal(err)
	}
	return compared.HistoryOf(h)
}

func study(t *testing.T, c *result.RecordedCampaign) *pages.Page {
	t.Helper()
	p, err := pages.Study(c, "")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func member(list any, key, value string) map[string]any {
	for _, item := range list.([]any) {
		if of := item.(map[string]any); of[key] == value {
			return of
		}
	}
	return nil
}

func at(document any, path string) any {
	for _, name := range strings.Split(path, ".") {
		of, ok := document.(map[string]any)
		if !ok {
			return nil
		}
		document = of[name]
	}
	return document
}

func TestValuesOfSeveralRuns(t *testing.T) {
	c, compared, over := sweep(t), comparison(t), history(t)
	for name, p := range map[string]struct {
		page     *pages.Page
		document map[string]any
		find     func(document map[string]any, d datum) any
		least    int
	}{
		"study": {study(t, c), decoded(t, func(b *bytes.Buffer, o report.Options) error { return campaigns.Write(b, c, o) }),
			func(document map[string]any, d datum) any {
				return at(member(document["cells"], "name", d.of), "figures."+d.figure+"."+d.stat)
			}, 12},
		"comparison": {pages.Comparison(compared), decoded(t, func(b *bytes.Buffer, o report.Options) error { return compared.Write(b, o) }),
			func(document map[string]any, d datum) any {
				return at(member(member(document["against_the_first"], "letter", d.of)["figures"], "figure", d.figure), d.stat)
			}, 24},
		"history": {pages.History(over), decoded(t, func(b *bytes.Buffer, o report.Options) error { return over.Write(b, o) }),
			func(document map[string]any, d datum) any {
				return member(document["runs"], "id", d.of)["values"].([]any)[0]
			}, 20},
	} {
		data := dataOf(t, written(t, p.page, pages.Options{}))
		if len(data) < p.least {
			t.Errorf("%s: only %d values", name, len(data))
		}
		for _, d := range data {
			if got := p.find(p.document, d); got != d.value {
				t.Errorf("%s: %+v, and the JSON has %v", name, d, got)
			}
		}
	}
}

func everyPage(t *testing.T) map[string]*pages.Page {
	return map[string]*pages.Page{
		"run":        pages.Run(showtest.Simulate(t, resulttest.OverloadTight())),
		"broken":     pages.Run(broken(t)),
		"imported":   pages.Run(showtest.Imported("producer")),
		"runs":       pages.Runs([]*result.Recorded{showtest.Simulate(t, resulttest.Baseline()), showtest.Simulate(t, resulttest.Overload())}),
		"study":      study(t, sweep(t)),
		"comparison": pages.Comparison(comparison(t)),
		"history":    pages.History(history(t)),
	}
}

var (
	elementWithContent = regexp.MustCompile(`(?s)<(style|script type="module")>(.*?)</(?:style|script)>`)
	policyElement      = regexp.MustCompile(`<meta http-equiv="Content-Security-Policy" content="([^"]*)">`)
	identifier         = regexp.MustCompile(` id="([^"]*)"`)
	heading            = regexp.MustCompile(`<h([1-6])`)
)

// A page requests nothing, its identifiers are unique, and its headings skip no level.
func TestPagesHoldWhatTheyNeed(t *testing.T) {
	for name, p := range everyPage(t) {
		page := written(t, p, pages.Options{})
		var wanted []string
		for _, m := range elementWithContent.FindAllStringSubmatch(page, -1) {
			sum := sha256.Sum256([]byte(m[2]))
			wanted = append(wanted, "'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'")
		}
		policy := policyElement.FindStringSubmatch(page)
		if len(wanted) != 3 || policy == nil {
			t.Fatalf("%s: %d hashes, policy %v", name, len(wanted), policy)
		}
		want := fmt.Sprintf("default-src 'none'; style-src %s; script-src %s %s; base-uri 'none'; form-action 'none'", wanted[0], wanted[1], wanted[2])
		if policy[1] != want {
			t.Errorf("%s: the policy is\n%s, want\n%s", name, policy[1], want)
		}
		for _, foreign := range []string{" style=", " src=", "<link", "url(", "@import", " onclick="} {
			if strings.Contains(page, foreign) {
				t.Errorf("%s has %q", name, foreign)
			}
		}
		seen := map[string]bool{}
		for _, m := range identifier.FindAllStringSubmatch(page, -1) {
			if seen[m[1]] {
				t.Errorf("%s: two elements have the identifier %q", name, m[1])
			}
			seen[m[1]] = true
		}
		level := 0
		for _, m := range heading.FindAllStringSubmatch(page, -1) {
			next, _ := strconv.Atoi(m[1])
			if next > level+1 || next == 1 && level > 0 {
				t.Errorf("%s: a heading of level %d after one of level %d", name, next, level)
			}
			level = next
		}
	}
}

func TestLinkedPage(t *testing.T) {
	page := written(t, study(t, sweep(t)), pages.Options{Assets: "/assets/", Links: []pages.Link{{Text: "All runs", Href: "/"}},
		Href: func(dir string) string { return "/run/" + dir[len("runs/"):] }})
	for want, n := range map[string]int{
		`<link rel="stylesheet" href="/assets/page.css">`: 1, `<script type="module" src="/assets/chart.js"></script>`: 1,
		`<style`: 0, `http-equiv`: 0, `<a href="/">All runs</a>`: 1, `<a href="/run/2026`: 15,
	} {
		if got := strings.Count(page, want); got != n {
			t.Errorf("%d × %s, want %d", got, want, n)
		}
	}
}

// hostile would become markup if it were not escaped.
const hostile = `"'></script></style></title><script>alert(1)</script><img src=x onerror=alert(1)>{{.}}`

func TestHostileText(t *testing.T) {
	r := showtest.Simulate(t, resulttest.OverloadTight())
	r.Dir = "runs/" + hostile
	r.Run.Run.Name, r.Run.Run.ID, r.Run.Run.Cluster.Note = hostile, hostile, hostile
	r.Run.Verdict = result.Verdict{Status: result.Invalid, Reasons: []string{hostile}, Warnings: []string{hostile}}
	r.Run.Time[hostile] = result.Time{Count: 1, MaxNs: 1}
	r.Events = append(r.Events, result.Event{Kind: hostile, What: hostile, Reason: hostile})
	resulttest.Set(&r.Run.Scenario, "load.client", map[string]any{hostile: hostile})
	c := sweep(t)
	c.Campaign.Campaign.Name, c.Campaign.Campaign.Question, c.Campaign.Cells[0].Name = hostile, hostile, hostile
	c.Runs[0].Run.Run.Name = hostile
	for name, p := range map[string]*pages.Page{
		"run": pages.Run(r), "runs": pages.Runs([]*result.Recorded{r, showtest.Simulate(t, resulttest.Baseline())}), "study": study(t, c),
	} {
		page := written(t, p, pages.Options{Href: func(string) string { return "javascript:alert(1)" }})
		for _, markup := range []string{"<script>", "<img", `"javascript:`, "{{.}}</"} {
			if markup != "{{.}}</" && strings.Contains(page, markup) {
				t.Errorf("%s has %s", name, markup)
			}
		}
		if !strings.Contains(page, "&lt;script&gt;alert(1)") {
			t.Errorf("%s does not have the text", name)
		}
	}
}

func TestPagesSayWhatRunsLack(t *testing.T) {
	for name, want := range map[string][]string{
		"broken":   {"invalid, not finished", "the run did not finish", "it stopped in the phase"},
		"imported": {">imported<", "coordinated omission", `class="missing"`},
	} {
		page := written(t, everyPage(t)[name], pages.Options{})
		for _, text := range want {
			if !strings.Contains(page, text) {
				t.Errorf("%s: no %q", name, text)
			}
		}
	}
}

func TestManyEvents(t *testing.T) {
	r := showtest.Simulate(t, resulttest.Baseline())
	r.Events = slices.Repeat([]result.Event{{Kind: "consumer", What: "a thing happened"}}, 2500)
	page := written(t, pages.Run(r), pages.Options{})
	if n := strings.Count(page, "a thing happened"); n != 2000 || !strings.Contains(page, "500 events more are in events.ndjson.") {
		t.Errorf("%d events are there", n)
	}
}

// hours returns a run with an interval for each second and all fields of intervals, with changing
// values.
func hours(t testing.TB, seconds int64) *result.Recorded {
	r := showtest.Simulate(t, resulttest.OverloadTight())
	base := r.Intervals
	r.Intervals = nil
	for k := range seconds {
		i := base[int(k)%len(base)]
		i.StartNs, i.EndNs, i.Phase = k*1e9, (k+1)*1e9, "measure"
		i.ReadFromNs, i.ReadToNs = i.StartNs, i.EndNs
		noise := (k*7919 + 13) % 997
		i.Acked, i.Delivered, i.TimeLagNs = i.Acked+noise, i.Delivered+noise, i.TimeLagNs+noise*1e6
		if i.LagRecords != nil {
			i.LagRecords = new(*i.LagRecords + noise)
		}
		i.LagSamples = slices.Clone(i.LagSamples)
		for n := range i.LagSamples {
			i.LagSamples[n].AtNs = i.StartNs + int64(n+1)*1e9/int64(len(i.LagSamples)+1)
			i.LagSamples[n].Records += noise
		}
		i.BacklogPartition, i.AckedPartition, i.DeliveredPartition = make([]int64, 12), make([]int64, 12), make([]int64, 12)
		for n := range int64(12) {
			share := 700 + (k*7907+n*601)%499
			i.BacklogPartition[n], i.AckedPartition[n], i.DeliveredPartition[n] = 10*share, share, share+n
		}
		i.Brokers = nil
		busy := 0.2 + float64(noise)/2000
		for id := range int32(3) {
			i.Brokers = append(i.Brokers, result.IntervalBroker{ID: id, CPUCores: new(busy + float64(id)/10),
				RSSBytes: new(1e9 + noise*1e5), DiskRead: new(noise * 1e3), DiskWritten: new(noise * 1e5)})
		}
		i.Host = &result.IntervalHost{CPUBusyRatio: &busy, CPUStolenRatio: new(busy / 9), DiskRead: new(noise * 1e3),
			DiskWritten: new(noise * 1e5), NetworkReceived: new(noise * 2e5), NetworkSent: new(noise * 3e5)}
		i.Processes = []result.IntervalProcess{{Name: "run", HeapBytes: new(5e7 + noise*1e4), GCPauseNs: new(noise * 100),
			Goroutines: new(100 + noise%50)}}
		r.Intervals = append(r.Intervals, i)
	}
	r.Run.Run.Phases = []result.Phase{{Name: "measure", EndNs: seconds * 1e9}}
	return r
}

// A page of an hour has at most 2 MB, and the common parts of pages at most 60 KB.
func TestBytes(t *testing.T) {
	size := len(pages.Style())
	for _, script := range pages.Scripts() {
		size += len(script)
	}
	if size > 60_000 {
		t.Errorf("style and scripts have %d bytes", size)
	}
	page := written(t, pages.Run(hours(t, 3600)), pages.Options{})
	if len(page) > 2_000_000 {
		t.Errorf("the page of an hour has %d bytes", len(page))
	}
	t.Logf("%d bytes of style and scripts, %d of an hour", size, len(page))
}
