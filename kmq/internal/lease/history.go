package lease

import (
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// failure is an attempt that this process saw fail.
type failure struct {
	at   int64 // ms since 1970
	text string
}

// tries is what few leases have of the attempts before. It is never changed, only replaced.
type tries struct {
	origin   ID    // of a copy in the retry topic
	due      int64 // ms since 1970; 0: at once
	failures []failure
}

func (l *Lease) amend(change func(*tries)) {
	for {
		before, after := l.tries.Load(), new(tries)
		if before != nil {
			*after = *before
		}
		change(after)
		if l.tries.CompareAndSwap(before, after) {
			return
		}
	}
}

const (
	mostFailures = 16   // kept of a record, the newest
	mostError    = 2048 // bytes of the newest text
	mostEarlier  = 120  // bytes of each earlier one
)

// Failed notes why an attempt failed and when. The next attempts' leases and the dead letter have the notes.
func (l *Lease) Failed(text string, at time.Time) {
	l.amend(func(p *tries) {
		all := slices.Clone(p.failures[max(0, len(p.failures)-mostFailures+1):])
		if n := len(all); n > 0 {
			all[n-1].text = cut(all[n-1].text, mostEarlier)
		}
		all = append(all, failure{at.UnixMilli(), cut(text, mostError)})
		p.failures = all
	})
}

// history returns the headers of a dead letter that say how the attempts failed; nil if this process saw none fail.
func (l *Lease) history() []kgo.RecordHeader {
	p := l.tries.Load()
	if p == nil || len(p.failures) == 0 {
		return nil
	}
	var lines strings.Builder
	for _, f := range p.failures {
		line, _, _ := strings.Cut(f.text, "\n")
		lines.WriteString(instant(time.UnixMilli(f.at)) + " " + cut(line, mostEarlier) + "\n")
	}
	return []kgo.RecordHeader{
		{Key: HeaderError, Value: []byte(p.failures[len(p.failures)-1].text)},
		{Key: HeaderAttempts, Value: []byte(strings.TrimSuffix(lines.String(), "\n"))},
	}
}

// instant is a time in a header: RFC 3339 in UTC, with milliseconds.
func instant(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05.000Z07:00") }

// DeadLetter is [DeadLetter] of the record as it was fetched, with the notes of [Lease.Failed].
func (l *Lease) DeadLetter(deliveries int, reason, group, to string, partitions int) *kgo.Record {
	dead := DeadLetter(l.Original(), l.Origin(), deliveries, reason, group, to, partitions)
	dead.Headers = append(dead.Headers, l.history()...)
	return dead
}
