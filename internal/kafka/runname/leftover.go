package runname

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Cluster is the topics and groups of a cluster.
type Cluster struct {
	Topics []string
	Groups []Group
}

// Group is a group of any protocol. Members and Topics are those of its members, and are zero without any.
type Group struct {
	Name    string
	Members int
	Topics  []string // which they consume
}

// Kind says whether a name is of a topic or of a group.
type Kind string

// The kinds.
const (
	Topics Kind = "topic"
	Groups Kind = "group"
)

// Age is what a name says about its run.
type Age int

// The ages.
const (
	Unknown Age = iota // it has not exactly the form of Name
	Running            // its run may still run
	Kept               // a user asked to keep it
	Past               // its run has ended
)

// Leftover is a topic or group whose name has the Prefix.
type Leftover struct {
	Kind   Kind
	Name   string
	Age    Age
	End    time.Time // planned, of its run; zero if the age is Unknown
	UsedBy []string  // groups with members that are of the same run, or consume the topic; sorted
}

// Removable reports whether it was left behind and nothing uses it, so that it may be removed without a user naming it.
func (l Leftover) Removable() bool { return l.Age == Past && len(l.UsedBy) == 0 }

// Find returns all topics and groups whose names have the Prefix, topics first, sorted by name.
func Find(c Cluster, now time.Time) (all []Leftover) {
	for _, topic := range c.Topics {
		all = appendOurs(all, Topics, topic, c, now)
	}
	for _, group := range c.Groups {
		all = appendOurs(all, Groups, group.Name, c, now)
	}
	slices.SortStableFunc(all, func(a, b Leftover) int {
		return cmp.Or(-cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
	})
	return all
}

func appendOurs(all []Leftover, kind Kind, name string, c Cluster, now time.Time) []Leftover {
	if !strings.HasPrefix(name, Prefix) {
		return all
	}
	l := Leftover{Kind: kind, Name: name}
	of, marked := Parse(name)
	if marked {
		l.End, l.Age = of.End, Running
		switch {
		case of.Kept:
			l.Age = Kept
		case of.Over(now):
			l.Age = Past
		}
	}
	for _, g := range c.Groups {
		sameRun := false
		if theirs, ok := Parse(g.Name); ok && marked {
			sameRun = theirs.Mark() == of.Mark()
		}
		uses := kind == Groups && g.Name == name || kind == Topics && slices.Contains(g.Topics, name)
		if g.Members > 0 && (sameRun || uses) {
			l.UsedBy = append(l.UsedBy, g.Name)
		}
	}
	slices.Sort(l.UsedBy)
	return append(all, l)
}
