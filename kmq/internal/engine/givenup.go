package engine

import (
	"log/slog"
	"sync"
	"time"

	"kafkabench.example/kafka-bench/kmq/internal/lease"
)

// GivenUp logs the records that become dead letters: the first at once, and then one a
// minute with how many they were, since a fault of the handlers gives up all of them. Its
// method may be called on any goroutine.
type GivenUp struct {
	log *slog.Logger

	mu    sync.Mutex
	last  time.Time
	since int64 // records since then
}

// NewGivenUp logs to log.
func NewGivenUp(log *slog.Logger) *GivenUp { return &GivenUp{log: log} }

// Record notes that a record is in the dead-letter topic, and why.
func (g *GivenUp) Record(at lease.ID, reason string) {
	g.mu.Lock()
	g.since++
	now := time.Now()
	if !g.last.IsZero() && now.Sub(g.last) < complainEvery {
		g.mu.Unlock()
		return
	}
	n := g.since
	g.last, g.since = now, 0
	g.mu.Unlock()
	g.log.Warn("kmq: a record was given up, and is in the dead-letter topic",
		"partition", at.Partition, "offset", at.Offset, "reason", reason, "given_up", n)
}
