package report_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/resulttest"
	"kafkabench.example/kafka-bench/internal/show/layout"
	"kafkabench.example/kafka-bench/internal/show/report"
	"kafkabench.example/kafka-bench/internal/show/showtest"
)

func play(t *testing.T, l *report.Live, p resulttest.Plan, intervals int) {
	r := showtest.Simulate(t, p)
	planned := []result.Phase{
		{Name: "warm-up", StartNs: -int64(p.Warmup)},
		{Name: "measure", EndNs: int64(p.Measure)},
		{Name: "drain", StartNs: int64(p.Measure), EndNs: int64(p.Measure + p.Drain)},
	}
	l.Status("starting Apache Kafka 4.3.1, 1 broker")
	for n, i := range r.Intervals[:intervals] {
		for len(planned) > 0 && planned[0].StartNs <= i.StartNs {
			l.Phase(planned[0])
			planned = planned[1:]
		}
		if n == 5 {
			l.Event(result.Event{AtNs: int64(2 * time.Second), Kind: "rebalance", What: "1 consumer left the group", Reason: "session timeout"})
			l.Event(result.Event{AtNs: int64(2 * time.Second), Kind: "backpressure", What: "gate closed"})
		}
		l.Interval(i)
	}
}

func TestLiveAsLines(t *testing.T) {
	var b bytes.Buffer
	l := report.NewLive(&b, report.LiveOptions{Name: "overload-tight"})
	play(t, l, resulttest.OverloadTight(), 24)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(b.String(), "\x1b") {
		t.Error("a log has no use for escape sequences")
	}
	showtest.Golden(t, "live-lines", b.Bytes())
	for line := range strings.Lines(b.String()) {
		if n := utf8.RuneCountInString(strings.TrimSpace(line)); n > layout.Width {
			t.Errorf("a line of %d columns: %s", n, line)
		}
	}
}

func TestLiveInFull(t *testing.T) {
	var b bytes.Buffer
	l := report.NewLive(&b, report.LiveOptions{Name: "overload-tight", Full: true, Terminal: true})
	play(t, l, resulttest.OverloadTight(), 7)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	showtest.Golden(t, "live-full", b.Bytes())
	for line := range strings.Lines(b.String()) {
		if n := utf8.RuneCountInString(strings.TrimSpace(line)); n > layout.Width {
			t.Errorf("a line of %d columns: %s", n, line)
		}
	}
}

// The last interval of a phase is known only after the next phase has begun.
func TestProgressOfTheLastInterval(t *testing.T) {
	var b bytes.Buffer
	l := report.NewLive(&b, report.LiveOptions{Name: "s", Full: true})
	l.Phase(result.Phase{Name: "measure", EndNs: 2e9})
	l.Phase(result.Phase{Name: "drain", StartNs: 2e9, EndNs: 9e9})
	l.Interval(result.Interval{Phase: "measure", StartNs: 1e9, EndNs: 2e9})
	if !strings.Contains(b.String(), "100 %") {
		t.Error(b.String())
	}
}

// terminal has what the view needs: lines, a cursor, and three escape sequences.
type terminal struct {
	t      *testing.T
	lines  []string
	row    int
	writes int
}

func (m *terminal) Write(p []byte) (int, error) {
	m.writes++
	s := string(p)
	for s != "" {
		switch {
		case strings.HasPrefix(s, "\x1b[K"):
			s = s[3:]
		case strings.HasPrefix(s, "\x1b[J"):
			m.lines = m.lines[:m.row]
			s = s[3:]
		case strings.HasPrefix(s, "\x1b["):
			var up int
			if _, err := fmt.Sscanf(s, "\x1b[%dF", &up); err != nil || up > m.row {
				m.t.Fatalf("cannot follow %q from row %d", s, m.row)
			}
			m.row -= up
			s = s[strings.Index(s, "F")+1:]
		default:
			end := strings.Index(s, "\n")
			if end < 0 || !strings.HasSuffix(s[:end], "\x1b[K") {
				m.t.Fatalf("a line that does not clear its rest: %q", s)
			}
			line := strings.TrimSuffix(s[:end], "\x1b[K")
			m.lines = append(m.lines[:m.row], append([]string{line}, m.lines[min(m.row+1, len(m.lines)):]...)...)
			m.row++
			s = s[end+1:]
		}
	}
	return len(p), nil
}

func (m *terminal) screen() string { return strings.Join(m.lines, "\n") + "\n" }

func TestRateOfAnInterval(t *testing.T) {
	var b bytes.Buffer
	l := report.NewLive(&b, report.LiveOptions{})
	l.Interval(result.Interval{StartNs: 1e9, EndNs: 2e9, ReadFromNs: 1e9, ReadToNs: 2.25e9, Acked: 1250})
	l.Interval(result.Interval{StartNs: 2e9, EndNs: 3e9, Acked: 1250}) // of method 1
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	for i, want := range []string{" 1,000 ", " 1,250 "} {
		if line := lines[len(lines)-2+i]; !strings.Contains(line, want) {
			t.Errorf("no%sin %q", want, line)
		}
	}
}

func TestLiveOnATerminal(t *testing.T) {
	var screens bytes.Buffer
	m := &terminal{t: t}
	l := report.NewLive(m, report.LiveOptions{Terminal: true, Name: "overload-tight"})
	l.Status("starting Apache Kafka 4.3.1, 1 broker")
	screens.WriteString(m.screen())
	play(t, l, resulttest.OverloadTight(), 12)
	screens.WriteString("\n" + m.screen())
	if len(m.lines) != 9 {
		t.Errorf("the view is redrawn in place, and there are %d lines", len(m.lines))
	}
	l.Phase(result.Phase{Name: "drain", StartNs: int64(8 * time.Second), EndNs: int64(68 * time.Second)})
	screens.WriteString("\n" + m.screen())
	showtest.Golden(t, "live-terminal", screens.Bytes())
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if len(m.lines) != 0 {
		t.Errorf("Close left %q", m.lines)
	}
}

func TestLiveOfACampaign(t *testing.T) {
	m := &terminal{t: t}
	l := report.NewLive(m, report.LiveOptions{Terminal: true, Name: "overload-tight"})
	for _, c := range []struct {
		run, runs int
		want      string
	}{
		{1, 45, "░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░  run 1 of 45  about 9 min left"},
		{31, 45, "████████████████████░░░░░░░░░░  run 31 of 45  about 9 min left"},
	} {
		l.Campaign(c.run, c.runs, "about 9 min left")
		l.Status("preparing")
		if m.lines[0] != c.want || len(m.lines) != 2 {
			t.Errorf("the view is\n%s", m.screen())
		}
	}
}

func TestLagOverTime(t *testing.T) {
	m := &terminal{t: t}
	l := report.NewLive(m, report.LiveOptions{Terminal: true})
	for i := range int64(70) {
		interval := result.Interval{StartNs: i * 1e9, EndNs: (i + 1) * 1e9}
		if i != 68 {
			interval.LagRecords = new(i * 100)
		}
		l.Interval(interval)
	}
	lag := m.lines[len(m.lines)-1]
	drawn := []rune(strings.TrimSuffix(strings.TrimPrefix(lag, "  lag over time       "), "  up to 6,900"))
	if len(drawn) != 60 || string(drawn[56:]) != "██ █" || drawn[0] != '▂' {
		t.Errorf("%q, of %d intervals", lag, len(drawn))
	}
}

func TestLiveKeepsToTheWidth(t *testing.T) {
	for _, colour := range []bool{false, true} {
		m := &plainTerminal{}
		l := report.NewLive(m, report.LiveOptions{Terminal: true, Colour: colour, Width: 40, Name: "overload-tight"})
		play(t, l, resulttest.OverloadTight(), 12)
		if m.widest > 40 || m.widest < 30 {
			t.Errorf("colour %v: the widest line has %d columns of 40", colour, m.widest)
		}
	}
}

type plainTerminal struct{ widest int }

func (m *plainTerminal) Write(p []byte) (int, error) {
	for _, line := range strings.Split(string(p), "\n") {
		visible := 0
		for line != "" {
			if strings.HasPrefix(line, "\x1b[") {
				line = line[strings.IndexAny(line, "mFKJ")+1:]
				continue
			}
			_, size := utf8.DecodeRuneInString(line)
			line = line[size:]
			visible++
		}
		m.widest = max(m.widest, visible)
	}
	return len(p), nil
}

var errClosed = errors.New("closed pipe")

type closedPipe struct{ writes int }

func (c *closedPipe) Write([]byte) (int, error) { c.writes++; return 0, errClosed }

func TestLiveKeepsTheFirstError(t *testing.T) {
	w := &closedPipe{}
	l := report.NewLive(w, report.LiveOptions{Name: "overload-tight"})
	play(t, l, resulttest.OverloadTight(), 12)
	if err := l.Close(); !errors.Is(err, errClosed) || w.writes != 1 {
		t.Errorf("error %v after %d writes", err, w.writes)
	}
}

func TestColour(t *testing.T) {
	coloured := text(t, broken(t), report.Options{Colour: true})
	if !bytes.Contains(coloured, []byte("\x1b[1;31mMEASUREMENT INTERRUPTED, invalid\x1b[0m")) {
		t.Error("an invalid verdict is not red")
	}
	if !bytes.Contains(text(t, closedLoop(t), report.Options{Colour: true}), []byte("\x1b[1;32mMEASUREMENT VALID\x1b[0m")) {
		t.Error("a valid verdict is not green")
	}
	stripped := coloured
	for _, code := range []string{"0", "1", "1;31", "1;32", "33"} {
		stripped = bytes.ReplaceAll(stripped, []byte("\x1b["+code+"m"), nil)
	}
	if !bytes.Equal(stripped, text(t, broken(t), report.Options{})) {
		t.Error("colours change more than the colour")
	}
}
