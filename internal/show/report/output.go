package report

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/figure"
	"kafkabench.example/kafka-bench/internal/show/layout"
)

// Format is the format of a report.
type Format int8

// The formats.
const (
	AsText     Format = iota // for a terminal
	AsMarkdown               // for a pull request
	AsCSV                    // one table, for a spreadsheet (RFC 4180)
	AsJSON                   // everything, for a program
	AsHTML                   // a page with charts, which package pages writes
)

var formats = []string{AsText: "text", AsMarkdown: "markdown", AsCSV: "csv", AsJSON: "json", AsHTML: "html"}

// String returns the name that ParseFormat reads.
func (f Format) String() string { return formats[f] }

// ParseFormat reads text, markdown, csv, json or html.
func ParseFormat(name string) (Format, error) {
	if i := slices.Index(formats, name); i >= 0 {
		return Format(i), nil
	}
	return 0, fmt.Errorf("there is no format %q; choose one of %s", name, strings.Join(formats, ", "))
}

// DocumentVersion is the version of every JSON document. Within a version, members are added, never
// renamed or removed. An unknown figure is null, never zero.
const DocumentVersion = 1

// Kinds of documents.
const (
	KindRuns       = "runs"
	KindCampaign   = "campaign"
	KindComparison = "comparison"
	KindHistory    = "history"
	KindHistograms = "histograms"
)

// Head begins every JSON document.
type Head struct {
	DocumentVersion int    `json:"document_version" jsonschema:"minimum=1"`
	Kind            string `json:"kind" jsonschema:"enum=runs,enum=campaign,enum=comparison,enum=history,enum=histograms"`
	// Units are the units of the document's figures, by the figure's name.
	Units map[string]string `json:"units,omitempty"`
	// NamedTwice is the number of runs that were named more than once. Each counts
	// once, and is in the document once. Absent if there is none.
	NamedTwice int `json:"named_twice,omitempty"`
}

func (h *Head) once(runs []*result.Recorded) []*result.Recorded {
	once, twice := result.Distinct(runs)
	h.NamedTwice += twice
	return once
}

// Forms are one report in all its formats.
type Forms struct {
	Head     Head
	Text     func(io.Writer, Options) error
	Markdown func(io.Writer) error
	Sheets   Sheets
	Sheet    string // the table that is written if the options name none
	Document any
}

// Write writes the report in the format of o.
func (f Forms) Write(w io.Writer, o Options) error {
	switch o.Format {
	case AsMarkdown:
		return f.Head.forPeople(w, f.Markdown(w))
	case AsCSV:
		return f.Sheets.write(w, cmp.Or(o.Table, f.Sheet))
	case AsJSON:
		return writeJSON(w, f.Document)
	case AsHTML:
		return fmt.Errorf("there is no page of this; choose one of %s", strings.Join(formats[:AsHTML], ", "))
	default:
		return f.Head.forPeople(w, f.Text(w, o))
	}
}

// forPeople writes a note on runs that were named twice, unless writing the report failed with err.
// A CSV has no such note.
func (h *Head) forPeople(w io.Writer, err error) error {
	if err != nil || h.NamedTwice == 0 {
		return err
	}
	_, err = fmt.Fprintf(w, "\n%s\n", h.Twice())
	return err
}

// Twice says how many runs were named twice; "" if none was.
func (h *Head) Twice() string {
	switch h.NamedTwice {
	case 0:
		return ""
	case 1:
		return "1 run was named twice and counts once."
	}
	return unit.Things(int64(h.NamedTwice), "run") + " were named twice and count once."
}

// NewHead returns the head of a document of a kind, with the units of its figures.
func NewHead(kind string, figures []figure.Figure) Head {
	h := Head{DocumentVersion: DocumentVersion, Kind: kind}
	for _, f := range figures {
		if h.Units == nil {
			h.Units = map[string]string{}
		}
		h.Units[f.Name] = f.Kind.Unit()
	}
	return h
}

func writeJSON(w io.Writer, document any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(document); err != nil {
		return fmt.Errorf("the report could not be encoded: %w", err)
	}
	_, err := w.Write(b.Bytes())
	return err
}

// Sheets makes the tables of a report by name, when they are asked for.
type Sheets map[string]func() layout.Table

func (s Sheets) write(w io.Writer, name string) error {
	make, ok := s[name]
	if !ok {
		return fmt.Errorf("there is no table %q here; choose one of %s", name,
			strings.Join(slices.Sorted(maps.Keys(s)), ", "))
	}
	t := make()
	return t.CSV(w)
}

// seconds has at most one decimal: 20 s, 0.7 s, -3 s.
func seconds(ns int64) string {
	tenths := (ns + 50_000_000) / 100_000_000
	if ns < 0 {
		tenths = (ns - 50_000_000) / 100_000_000
	}
	if tenths%10 == 0 {
		return unit.Count(tenths/10) + " s"
	}
	return strconv.FormatFloat(float64(tenths)/10, 'f', 1, 64) + " s"
}

func share(part, whole int64) string {
	if whole == 0 {
		return unit.Absent
	}
	return unit.Percent(float64(part) / float64(whole))
}
