// Package runname makes the names of the topics and groups that the tool creates. A name says when its run began and
// when it is to have ended, so that what a killed run left on a cluster can be told from what a run still uses.
//
// Files to know: name.go (the form), leftover.go (what may be removed).
package runname

import (
	"fmt"
	"regexp"
	"time"
)

// Prefix begins the names of all topics and groups that the tool creates, except those that a user chose.
const Prefix = "kafka-bench-"

// Grace is how long after its planned end a run counts as ended.
const Grace = time.Hour

const timeForm = "20060102T150405Z"

// Name is the name of a topic or group: kafka-bench-OF-START-END-ID, with times in UTC, so that names of the same kind
// are sorted by time. A name has at most 230 characters; Kafka allows 249.
type Name struct {
	Of         string    // the scenario, or what else the topic is for, such as "peers"; at most 150 characters
	ID         string    // of the run, campaign or session: 6 to 8 lower-case letters and digits
	Start, End time.Time // in whole seconds; the run is to have ended by End
	Kept       bool      // the user asked to keep it (--keep-topics)
}

// New returns the name for a run that begins now and lasts at most this long.
func New(of, id string, now time.Time, lasts time.Duration) Name {
	start := now.UTC().Truncate(time.Second)
	return Name{Of: of, ID: id, Start: start, End: start.Add(lasts).Truncate(time.Second)}
}

// String returns the name.
func (n Name) String() string {
	s := Prefix + n.Of + "-" + n.Mark()
	if n.Kept {
		s += keptSuffix
	}
	return s
}

const keptSuffix = "-kept"

// Mark returns the part of the name that all topics and groups of one run share: START-END-ID.
func (n Name) Mark() string {
	return fmt.Sprintf("%s-%s-%s", n.Start.Format(timeForm), n.End.Format(timeForm), n.ID)
}

// A group of several ends with its number; so does a round of peers. The queue's topics and groups have the words.
var form = regexp.MustCompile(`^` + Prefix +
	`([a-zA-Z0-9._-]{1,150})-(\d{8}T\d{6}Z)-(\d{8}T\d{6}Z)-([a-z0-9]{6,8})` +
	`(` + keptSuffix + `)?(-\d{1,4})?(-markers|-dead|-retry|-tracker)?$`)

// Parse reads a name, with or without the suffixes that tell a run's topics and groups apart. It returns false if the
// name has not exactly the form.
func Parse(s string) (n Name, ok bool) {
	m := form.FindStringSubmatch(s)
	if m == nil {
		return Name{}, false
	}
	start, err := time.Parse(timeForm, m[2])
	end, endErr := time.Parse(timeForm, m[3])
	if err != nil || endErr != nil || end.Before(start) {
		return Name{}, false
	}
	return Name{Of: m[1], ID: m[4], Start: start, End: end, Kept: m[5] != ""}, true
}

// Over reports whether the planned end, and Grace, is past.
func (n Name) Over(now time.Time) bool { return now.After(n.End.Add(Grace)) }
