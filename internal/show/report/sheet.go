package report

import (
	"encoding/csv"
	"io"
	"math"
	"strconv"
	"time"
)

// sheet is a table of raw values. The names of its columns end in their unit;
// a value that is not known is empty.
type sheet struct {
	head []string
	rows [][]string
}

func (s *sheet) add(cells ...string) { s.rows = append(s.rows, cells) }

// write writes the sheet as RFC 4180 has it, but for the line ends: a newline
// alone, which every reader takes and every diff shows well.
func (s sheet) write(w io.Writer) error {
	out := csv.NewWriter(w)
	if err := out.Write(s.head); err != nil {
		return err
	}
	return out.WriteAll(s.rows)
}

// raw prints a number to the last digit, without an exponent and without
// separators.
func raw(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return ""
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

func integer(n int64) string { return strconv.FormatInt(n, 10) }

func flag(b bool) string { return strconv.FormatBool(b) }

// optional prints what a pointer points to.
func optional[T int64 | float64](p *T) string {
	if p == nil {
		return ""
	}
	return raw(float64(*p))
}

func date(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
