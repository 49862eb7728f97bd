package crash

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"kafkabench.example/kafka-bench/kmq"
)

// Lines of a journal: time in ns, process, kind, and further fields.
const (
	lineOpened    = "opened"
	lineClosing   = "closing" // records are given back
	lineClosed    = "closed"
	lineEnded     = "ended"     // text: the error that ended a queue
	lineDelivered = "delivered" // number partition offset attempt deadline(ns) at-offset
	lineProcessed = "processed" // number attempt; before Ack
	lineReleased  = "released"  // number attempt; before Nack
	lineRejected  = "rejected"  // number attempt; after Reject
	lineError     = "error"     // text
	lineWrong     = "wrong"     // text: it fails the test
	lineKilled    = "killed"    // step n
	lineReached   = "reached"   // step times, at the close
	lineLost      = "lost"      // the group has put the process out
)

// Lines that children append stay whole.
type journal struct {
	file *os.File
	name string
	// A dying process reports no errors; a dead one writes nothing.
	dying, dead atomic.Bool
}

func openJournal(path, name string) (*journal, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	return &journal{file: f, name: name}, nil
}

func (j *journal) write(kind string, fields ...any) {
	if j.dead.Load() || j.dying.Load() && (kind == lineError || kind == lineWrong) {
		return
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "%d %s %s", time.Now().UnixNano(), j.name, kind)
	for _, f := range fields {
		b.WriteByte(' ')
		b.WriteString(strings.ReplaceAll(fmt.Sprint(f), "\n", " "))
	}
	b.WriteByte('\n')
	if _, err := j.file.Write(b.Bytes()); err != nil {
		panic(err) // a child without a journal proves nothing
	}
}

type delivery struct {
	at       time.Time
	by       string
	id       kmq.ID
	attempt  int
	deadline time.Time // zero: none
	settled  bool
}

type fate struct {
	deliveries []delivery
	processed  int
	rejected   int
}

// mayHaveBegun is a time before which no process may have tried to hand out the record; it holds a record for at most twice
// the lock.
func (f *fate) mayHaveBegun(lock time.Duration) time.Time {
	if len(f.deliveries) == 0 {
		return time.Time{}
	}
	return f.deliveries[0].at.Add(-2 * lock)
}

type book struct {
	path string

	mu      sync.Mutex
	file    *os.File
	rest    []byte
	fates   map[int]*fate
	kills   map[string]int
	reached map[string]int
	wrong   []string
	errors  map[string]int
	lines   map[string]int
	opened  map[string]int
	last    map[string]string         // last line, by process
	began   map[string]map[string]int // lines, by process and kind
	losses  []time.Time
}

func openBook(path string) (*book, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDONLY, 0o600)
	if err != nil {
		return nil, err
	}
	return &book{
		path: path, file: f, fates: map[int]*fate{}, kills: map[string]int{}, reached: map[string]int{},
		errors: map[string]int{}, lines: map[string]int{}, opened: map[string]int{}, last: map[string]string{},
		began: map[string]map[string]int{},
	}, nil
}

func (b *book) read() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	more, err := io.ReadAll(b.file)
	if err != nil {
		return err
	}
	b.rest = append(b.rest, more...)
	for {
		line, rest, found := bytes.Cut(b.rest, []byte("\n"))
		if !found {
			return nil
		}
		if err := b.take(string(line)); err != nil {
			return fmt.Errorf("%w in the line %q", err, line)
		}
		b.rest = rest
	}
}

func (b *book) take(line string) error {
	fields := strings.SplitN(line, " ", 4)
	if len(fields) < 3 {
		return fmt.Errorf("%d fields", len(fields))
	}
	ns, err := strconv.ParseInt(fields[0], 10, 64)
	if err != nil {
		return err
	}
	at, by, kind, rest := time.Unix(0, ns), fields[1], fields[2], ""
	if len(fields) == 4 {
		rest = fields[3]
	}
	b.lines[kind]++
	b.last[by] = line
	if b.began[by] == nil {
		b.began[by] = map[string]int{}
	}
	b.began[by][kind]++
	var n, attempt int
	switch kind {
	case lineOpened:
		b.opened[by]++
	case lineLost:
		b.losses = append(b.losses, at)
	case lineClosing, lineClosed, lineEnded:
	case lineDelivered:
		return b.delivered(at, by, rest)
	case lineProcessed, lineReleased, lineRejected:
		if _, err := fmt.Sscan(rest, &n, &attempt); err != nil {
			return err
		}
		b.settled(by, kind, n, attempt)
	case lineError:
		b.errors[rest]++
	case lineWrong:
		b.wrong = append(b.wrong, by+": "+rest)
	case lineKilled, lineReached:
		name, times, err := stepLine(rest)
		if err != nil {
			return err
		}
		if kind == lineKilled {
			b.kills[name]++
		} else {
			b.reached[name] += times
		}
	default:
		return fmt.Errorf("kind %q", kind)
	}
	return nil
}

func stepLine(rest string) (name string, times int, err error) {
	i := strings.LastIndexByte(rest, ' ')
	if i < 0 {
		return "", 0, fmt.Errorf("step %q", rest)
	}
	times, err = strconv.Atoi(rest[i+1:])
	return rest[:i], times, err
}

func (b *book) delivered(at time.Time, by, rest string) error {
	var n, attempt int
	var id kmq.ID
	var deadline, copied int64
	if _, err := fmt.Sscan(rest, &n, &id.Partition, &id.Offset, &attempt, &deadline, &copied); err != nil {
		return err
	}
	d := delivery{at: at, by: by, id: id, attempt: attempt}
	if deadline != 0 {
		d.deadline = time.Unix(0, deadline)
	}
	f := b.fate(n)
	f.deliveries = append(f.deliveries, d)
	return nil
}

func (b *book) settled(by, kind string, n, attempt int) {
	f := b.fate(n)
	for i, d := range f.deliveries {
		if d.by == by && d.attempt == attempt {
			f.deliveries[i].settled = true
		}
	}
	switch kind {
	case lineProcessed:
		f.processed++
	case lineRejected:
		f.rejected++
	}
}

func (b *book) fate(n int) *fate {
	f := b.fates[n]
	if f == nil {
		f = &fate{}
		b.fates[n] = f
	}
	return f
}

// lossesSince is how often the group has put a process out since then.
func (b *book) lossesSince(then time.Time) (n int) {
	for _, at := range b.losses {
		if at.After(then) {
			n++
		}
	}
	return n
}

func (b *book) processed(n int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	f := b.fates[n]
	return f != nil && f.processed > 0
}

func (b *book) count(by, kind string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.began[by][kind]
}

func (b *book) story(n int) string {
	data, err := os.ReadFile(b.path)
	if err != nil {
		return err.Error()
	}
	var s strings.Builder
	for line := range strings.Lines(string(data)) {
		f := strings.Fields(line)
		if len(f) > 3 && f[3] == strconv.Itoa(n) && f[2] != lineReached && f[2] != lineError {
			s.WriteString("\n  " + strings.TrimSpace(line))
		}
	}
	return s.String()
}
