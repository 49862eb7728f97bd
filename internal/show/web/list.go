package web

import (
	"bytes"
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"math"
	"time"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/figure"
	"kafkabench.example/kafka-bench/internal/show/layout"
	"kafkabench.example/kafka-bench/internal/show/pages"
)

//go:embed assets/list.html
var listHTML string

const rowsPerPage = 50

type listing struct {
	Dir      string
	Title    string
	Cards    []card
	MoreOf   int // categories without a card
	Filter   filter
	Verdicts []string
	All      string // the address of the list of all runs
	Faults   []string
	Groups   []listedGroup
	First    int // the number of the first run shown, from 1
	Last     int
	Runs     int    // matching runs; -1 if they were not counted
	Previous string // the address of the previous page; "" if there is none
	Next     string
	Static   bool // in a file, which cannot filter or compare
}

type listedGroup struct {
	Campaign *listedCampaign
	Rows     []listedRow
}

type listedCampaign struct {
	Name, Href, Kind, Question, Made, At string
	// Set is the folder if the campaign can be compared as one set of runs; else "".
	Set   string
	Error string
}

type listedRow struct {
	Folder, Name, ID, Href, At string
	Verdict                    string
	Tone                       pages.Tone
	Figures                    []pages.Cell
	Error                      string
}

var rowFigures = []string{"offered_per_s", "acked_per_s", "e2e_response_time_p99", "lag_peak"}

// Heads returns the titles of the columns of rowFigures.
func (listing) Heads() []string { return []string{"Offered", "Acked", "e2e response p99", "Lag peak"} }

// list returns a page of the matching runs; all of them if perPage is 0. It opens the summaries of
// the runs that it shows, and others only to filter by verdict.
func (s *site) list(c *catalog, l links, f filter, perPage int) listing {
	page := listing{
		Dir: s.lib.dir, Title: cmp.Or(s.lib.title, "Runs in "+s.lib.dir), Filter: f, Verdicts: verdicts, All: l.list(), Static: l.static,
	}
	page.Cards, page.MoreOf = c.cards(l)
	if perPage == 0 {
		perPage = math.MaxInt
	}
	first, fitting, more := (f.Page-1)*perPage, 0, false
	for _, g := range c.groups() {
		shown := listedGroup{}
		for _, run := range g.runs {
			if more || !f.fits(run, c.category[run.name]) || f.Verdict != "" && f.Verdict != s.standing(run) {
				continue
			}
			if fitting >= first && fitting < first+perPage {
				shown.Rows = append(shown.Rows, s.rowOf(run, l))
			}
			fitting++
			more = f.Verdict != "" && fitting > first+perPage // stop reading when a further page is known
		}
		barren := len(g.runs) == 0 && !f.asks() && fitting >= first && fitting < first+perPage
		if len(shown.Rows) == 0 && !barren {
			continue
		}
		if g.campaign != nil {
			shown.Campaign = s.campaignOf(*g.campaign, l)
		}
		page.Groups = append(page.Groups, shown)
	}
	page.First, page.Last, page.Runs = min(first+1, fitting), min(first+perPage, fitting), fitting
	if f.Verdict != "" {
		page.Runs = -1
	}
	if f.Page > 1 {
		page.Previous = "/?" + f.query(f.Page-1)
	}
	if fitting > first+perPage {
		page.Next = "/?" + f.query(f.Page+1)
	}
	return page
}

func (s *site) standing(e entry) string {
	row, err := s.lib.row(e)
	switch {
	case err != nil:
		return unreadable
	case !row.Finished:
		return unfinished
	}
	return row.Status
}

func (s *site) rowOf(e entry, l links) listedRow {
	row, err := s.lib.row(e)
	if err != nil {
		return listedRow{Folder: e.folder, Name: e.name, At: moment(e.at), Error: err.Error(), Href: l.run(e.folder)}
	}
	shown := listedRow{
		Folder: e.folder, Name: row.Name, ID: row.ID, Href: l.run(e.folder), Verdict: row.Status, Tone: pages.Bad,
		At: moment(row.StartedAt),
	}
	if row.Name == "" { // killed before the run was described
		shown.Name = e.name
	}
	if row.StartedAt.IsZero() && row.Imported == "" {
		shown.At = moment(e.at)
	}
	switch {
	case !row.Finished:
		shown.Verdict, shown.Tone = "not finished, "+s.silence(e, l), pages.Doubtful
	case row.Interrupted:
		shown.Verdict, shown.Tone = "interrupted, "+row.Status, pages.Doubtful
	case row.Imported != "":
		shown.Verdict, shown.Tone = "imported from "+row.Imported, pages.Plain // not judged by our rules
	case row.Status == result.Valid:
		shown.Tone = pages.Good
	}
	shown.Figures = figuresOf(row)
	return shown
}

// silence shows whether the run was killed: until its end, a run writes a line in each interval.
func (s *site) silence(e entry, l links) string {
	at := s.lib.lastLine(e)
	if l.static {
		return "last line at " + moment(at)
	}
	return "last line " + unit.Span(max(0, time.Since(at)).Truncate(time.Second)) + " ago"
}

func figuresOf(row result.Row) []pages.Cell {
	values := []*float64{row.OfferedPerS, row.AckedPerS, nil, nil}
	if row.E2EP99Ns != nil && figure.Supported(99, row.E2ERecords) {
		v := float64(*row.E2EP99Ns)
		values[2] = &v
	}
	if row.LagPeakRecords != nil {
		v := float64(*row.LagPeakRecords)
		values[3] = &v
	}
	cells := make([]pages.Cell, len(rowFigures))
	for i, name := range rowFigures {
		cells[i].Text = unit.Absent
		f, err := figure.Named(name)
		if err != nil || values[i] == nil {
			continue
		}
		cells[i] = pages.Cell{Text: f.Format(*values[i]), Value: layout.Raw(*values[i]), Figure: f.Name}
		if i == 2 {
			ranked := *values[i]
			if cells[i].AtLeast = row.E2EP99AtLeast; row.E2EP99AtLeast {
				ranked = math.Inf(1)
			}
			cells[i].Text = f.FormatClocked(ranked, *values[i], float64(row.E2EErrorNs))
		}
	}
	return cells
}

func (s *site) campaignOf(e entry, l links) *listedCampaign {
	shown := &listedCampaign{Name: e.name, At: moment(e.at), Href: l.campaign(e.folder), Kind: "campaign"}
	c, err := s.lib.campaignFile(e)
	if err != nil {
		shown.Error = err.Error()
		return shown
	}
	shown.Name, shown.Question, shown.At = c.Campaign.Name, c.Campaign.Question, moment(c.Campaign.StartedAt)
	shown.Made = fmt.Sprintf("%s of %s made", unit.Count(int64(c.Made())), unit.Things(int64(len(c.Runs)), "run"))
	if c.Campaign.Kind == result.KindSearch {
		shown.Kind = "search"
		shown.Made = unit.Things(int64(len(c.Runs)), "probe")
	}
	if !c.Finished() {
		shown.Made += ", not finished"
	}
	if len(c.Cells) == 1 && c.Campaign.Kind != result.KindSearch {
		shown.Set = e.folder
	}
	return shown
}

func moment(at time.Time) string { return layout.Moment(at, "2006-01-02 15:04:05") }

var listTemplate = template.Must(template.New("list").Funcs(template.FuncMap{
	"count":  func(n int) string { return unit.Count(int64(n)) },
	"runs":   func(n int) string { return unit.Things(int64(n), "run") },
	"things": func(n int, what string) string { return unit.Things(int64(n), what) },
	"day":    func(at time.Time) string { return layout.Moment(at, time.DateOnly) },
	"box":    func(folder, name string) [2]string { return [2]string{folder, name} },
}).Parse(listHTML))

func (p listing) page() (*pages.Page, error) {
	var b bytes.Buffer
	if err := listTemplate.Execute(&b, p); err != nil {
		return nil, fmt.Errorf("the list could not be written: %w", err)
	}
	return &pages.Page{Kind: "List", Title: p.Title, Main: template.HTML(b.String())}, nil
}
