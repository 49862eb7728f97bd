package sharelog

import (
	"context"
	"log/slog"
)

// ChangeKind says what changed.
type ChangeKind string

// What can happen to a member.
const (
	Joined    ChangeKind = "joined"    // the others know this process now
	Moved     ChangeKind = "moved"     // its part is another one
	Fenced    ChangeKind = "fenced"    // no beat of its own came back in time: its part is 0
	Renewed   ChangeKind = "renewed"   // one came back, and the part was not reclaimed meanwhile
	Expelled  ChangeKind = "expelled"  // the others reclaimed its part: it joins anew
	Reclaimed ChangeKind = "reclaimed" // the part of one that died or left is free
	Broken    ChangeKind = "broken"    // the log can't be followed: the part is 0 for good
)

// Change is something that happened to a member and that people want to know.
type Change struct {
	Kind ChangeKind
	// Member is who it happened to: this process, or for Reclaimed another.
	Member string
	// Part is what this process may use from now on, and Members how many others and
	// itself share the bound.
	Part    float64
	Members int
	Reason  string
}

// tell tells of changes, and has the application stop what may still go out where
// this process must not be heard of any more.
func (m *Member) tell(changes []Change) {
	for _, change := range changes {
		m.cfg.tell(change)
		switch change.Kind {
		case Fenced, Expelled, Broken:
			if m.cfg.OnFenced != nil {
				m.work.Go(m.cfg.OnFenced)
			}
		}
	}
}

// tell passes a change on to whoever asked for it.
func (c *Config) tell(change Change) {
	if c.OnChange != nil {
		c.OnChange(change)
	}
	if c.Logger == nil {
		return
	}
	level := slog.LevelInfo
	switch change.Kind {
	case Fenced, Expelled, Broken:
		level = slog.LevelWarn
	}
	c.Logger.LogAttrs(context.Background(), level, "share "+string(change.Kind),
		slog.String("bound", c.Bound), slog.String("member", change.Member), slog.Float64("part", change.Part),
		slog.Int("members", change.Members), slog.String("reason", change.Reason))
}
