package web

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	unfinished = "unfinished"
	unreadable = "unreadable"
)

var verdicts = []string{"valid", "invalid", unfinished, unreadable}

// mostPages keeps the product of page number and size from overflowing.
const mostPages = 1_000_000

// An empty field of a filter selects all.
type filter struct {
	Name     string // a part of the run's name
	Category string
	Verdict  string
	From, To string // days, UTC
	Page     int    // from 1

	from, to time.Time // to is the day after the last
}

// The error has all mistakes of the query.
func filterOf(q url.Values) (filter, error) {
	f := filter{
		Name: strings.TrimSpace(q.Get("name")), Category: q.Get("category"), Verdict: q.Get("verdict"),
		From: q.Get("from"), To: q.Get("to"), Page: 1,
	}
	var faults []error
	if f.Verdict != "" && !slices.Contains(verdicts, f.Verdict) {
		faults = append(faults, fmt.Errorf("there is no verdict %q; choose one of %s", f.Verdict,
			strings.Join(verdicts, ", ")))
	}
	day := func(text, what string, days int) time.Time {
		if text == "" {
			return time.Time{}
		}
		at, err := time.Parse(time.DateOnly, text)
		if err != nil {
			faults = append(faults, fmt.Errorf("%s %q is no day; write it as 2026-11-21", what, text))
		}
		return at.AddDate(0, 0, days)
	}
	f.from, f.to = day(f.From, "from", 0), day(f.To, "to", 1)
	if text := q.Get("page"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > mostPages {
			faults = append(faults, fmt.Errorf("there is no page %q; pages are counted from 1 to %d", text, mostPages))
		}
		f.Page = n
	}
	return f, errors.Join(faults...)
}

func (f filter) query(page int) string {
	q := url.Values{}
	for name, value := range map[string]string{
		"name": f.Name, "category": f.Category, "verdict": f.Verdict, "from": f.From, "to": f.To,
	} {
		if value != "" {
			q.Set(name, value)
		}
	}
	if page > 1 {
		q.Set("page", strconv.Itoa(page))
	}
	return q.Encode()
}

func (f filter) asks() bool { return f.query(1) != "" }

func (f filter) fits(e entry, category string) bool {
	switch {
	case f.Name != "" && !strings.Contains(e.name, inFolder(f.Name)),
		f.Category != "" && category != f.Category,
		!f.from.IsZero() && e.at.Before(f.from),
		!f.to.IsZero() && (e.at.IsZero() || !e.at.Before(f.to)):
		return false
	}
	return true
}

// inFolder converts a part of a run's name to the spelling of folder names.
func inFolder(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '_' || r == '.' {
			return r
		}
		return '-'
	}, strings.ToLower(name))
}
