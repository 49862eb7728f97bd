package bench

import (
	"context"
	"log/slog"
	"sync"

	"kafkabench.example/kafka-bench/internal/load"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/observe"
)

// queueLog puts what a queue logs onto the run's axis, as events.
type queueLog struct {
	axis    *load.Axis
	journal *observe.Journal
	mu      sync.Mutex
	told    map[string]int // how often each message was told
}

// maxTold bounds how often one message of a queue is told: it may be told of each record.
const maxTold = 20

func (l *queueLog) logger() *slog.Logger { return slog.New(&queueHandler{log: l}) }

// tell tells a message, unless it was told too often.
func (l *queueLog) tell(what string, data map[string]any) {
	l.mu.Lock()
	if l.told == nil {
		l.told = make(map[string]int)
	}
	n := l.told[what]
	if n <= maxTold && len(l.told) < observe.MaxDistinct {
		l.told[what]++
	}
	l.mu.Unlock()
	switch {
	case n < maxTold:
		l.journal.Event(result.Event{AtNs: l.axis.Now(), Kind: "queue", What: what, Data: data})
	case n == maxTold:
		l.journal.Now("queue", what, "and is not told any more")
	}
}

// queueHandler is a slog.Handler of a queue's log.
type queueHandler struct {
	log   *queueLog
	attrs []slog.Attr
	group string
}

// Enabled leaves out what is for debugging.
func (h *queueHandler) Enabled(_ context.Context, level slog.Level) bool {
	return level >= slog.LevelInfo
}

// Handle writes one event.
func (h *queueHandler) Handle(_ context.Context, r slog.Record) error {
	data := make(map[string]any)
	for _, a := range h.attrs {
		data[a.Key] = plainValue(a.Value)
	}
	r.Attrs(func(a slog.Attr) bool {
		data[h.group+a.Key] = plainValue(a.Value)
		return true
	})
	if r.Level > slog.LevelInfo {
		data["level"] = r.Level.String()
	}
	h.log.tell(r.Message, data)
	return nil
}

// plainValue is a value as JSON has it: errors and durations as their texts.
func plainValue(v slog.Value) any {
	switch v = v.Resolve(); v.Kind() {
	case slog.KindInt64, slog.KindUint64, slog.KindFloat64, slog.KindBool:
		return v.Any()
	default:
		return v.String()
	}
}

// WithAttrs is slog.Handler's.
func (h *queueHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	with := *h
	with.attrs = append(with.attrs[:len(with.attrs):len(with.attrs)], attrs...)
	return &with
}

// WithGroup is slog.Handler's.
func (h *queueHandler) WithGroup(name string) slog.Handler {
	with := *h
	with.group += name + "."
	return &with
}
