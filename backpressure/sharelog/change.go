package sharelog

import (
	"context"
	"log/slog"
)

// ChangeKind says what changed.
type ChangeKind string

// The kinds of changes of a member.
const (
	Joined    ChangeKind = "joined"    // the others know this process now
	Moved     ChangeKind = "moved"     // its part changed
	Fenced    ChangeKind = "fenced"    // no beat came back in time: its part is 0
	Renewed   ChangeKind = "renewed"   // a beat came back, and the part was not reclaimed meanwhile
	Expelled  ChangeKind = "expelled"  // the others reclaimed its part: it joins again
	Reclaimed ChangeKind = "reclaimed" // the part of a member that died or left is free
	Broken    ChangeKind = "broken"    // the log can't be followed: the part is 0 for good
)

// Change is an event of a member, for logs and metrics.
type Change struct {
	Kind ChangeKind
	// Member is this process; for Reclaimed, the one whose part is free.
	Member string
	// Part is what this process may use from now on. Members is how many members share
	// the bound, this one included.
	Part    float64
	Members int
	Reason  string
}

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
