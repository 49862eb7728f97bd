package engine

import (
	"log/slog"
	"sync"
	"time"

	"kafkabench.example/kafka-bench/kmq/internal/lease"
)

// GivenUp logs dead letters: the first at once, then their number once a minute. Record is safe for concurrent use.
type GivenUp struct {
	log *slog.Logger

	mu    sync.Mutex
	last  time.Time
	since int64
}

// NewGivenUp returns a GivenUp that logs to log.
func NewGivenUp(log *slog.Logger) *GivenUp { return &GivenUp{log: log} }

// Record counts a record in the dead-letter topic.
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
