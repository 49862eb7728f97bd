package bench

import (
	"context"
	"log/slog"
	"sync"

	"kafkabench.example/kafka-bench/internal/load"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/observe"
)

type queueLog struct {
	axis    *load.Axis
	journal *observe.Journal
	mu      sync.Mutex
	told    map[string]int
}

// A message may come with each record.
const maxTold = 20

func (l *queueLog) logger() *slog.Logger { return slog.New(&queueHandler{log: l}) }

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

type queueHandler struct {
	log   *queueLog
	attrs []slog.Attr
	group string
}

func (h *queueHandler) Enabled(_ context.Context, level slog.Level) bool {
	return level >= slog.LevelInfo
}

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

func plainValue(v slog.Value) any {
	switch v = v.Resolve(); v.Kind() {
	case slog.KindInt64, slog.KindUint64, slog.KindFloat64, slog.KindBool:
		return v.Any()
	default:
		return v.String()
	}
}

func (h *queueHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	with := *h
	with.attrs = append(with.attrs[:len(with.attrs):len(with.attrs)], attrs...)
	return &with
}

func (h *queueHandler) WithGroup(name string) slog.Handler {
	with := *h
	with.group += name + "."
	return &with
}
