// Package retention watches whether the retention of topics still covers the records that the queue
// needs.
//
// Brokers delete old records without notice, settled or not. Every 30 s a Watch compares the lowest
// needed offset of each partition with the start of its log and with what retention will delete
// next. A conflict is an alarm for as long as it lasts.
//
// Files to know: watch.go, bound.go.
package retention

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/kmq/internal/engine"
)

const watchEvery = 30 * time.Second

// Need is the offset from which the records of a partition are needed.
type Need struct {
	Topic     string
	Partition int32
	From      int64 // or Start
}

// Start as Need.From means the start of the partition's log.
const Start = -1

// Watch looks for conflicts of Needs with retention. Its methods are safe for concurrent use.
type Watch struct {
	cl     *kgo.Client
	log    *slog.Logger
	topics []string
	needed func(context.Context) ([]Need, error)

	looking sync.Mutex // one check at a time; guards silent
	silent  map[string]bool

	mu    sync.Mutex
	found map[string]*bound // by the last look
	last  string
	about string
	kept  []string
	more  int

	stop context.CancelFunc
	done chan struct{}
}

// New begins to watch topics. needed returns which offsets are needed; an error of needed is
// logged, and the next check calls it again. The client must outlive the watch.
func New(cl *kgo.Client, log *slog.Logger, needed func(context.Context) ([]Need, error), topics ...string) *Watch {
	w := &Watch{
		cl: cl, log: log, topics: topics, needed: needed,
		silent: make(map[string]bool), done: make(chan struct{}),
	}
	ctx, stop := context.WithCancel(context.Background())
	w.stop = stop
	go w.run(ctx)
	return w
}

// Close ends the watch and keeps the alarm.
func (w *Watch) Close() {
	w.stop()
	<-w.done
}

// Alarm describes what is about to be lost; empty: nothing.
func (w *Watch) Alarm() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := slices.Clone(w.kept)
	if w.more > 0 {
		all = append(all, fmt.Sprintf("and %d more are lost", w.more))
	}
	if w.last != "" {
		all = append(all, w.last)
	}
	return strings.Join(all, "; ")
}

// Endangered reports whether retention may soon delete a record, by the last look: half of the time that the topic keeps
// records has passed, or nine tenths of the bytes were written since.
func (w *Watch) Endangered(topic string, partition int32, offset int64, timestamp time.Time) bool {
	w.mu.Lock()
	b := w.found[topic]
	w.mu.Unlock()
	return b != nil && b.endangers(partition, offset, timestamp)
}

const keptAtMost = 3

// Keep adds a permanent alarm about records that are lost.
func (w *Watch) Keep(alarm string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.kept) < keptAtMost {
		w.kept = append(w.kept, alarm)
		return
	}
	w.more++
}

func (w *Watch) run(ctx context.Context) {
	defer close(w.done)
	t := trouble{complaint: engine.NewComplaint(w.log)}
	every := time.NewTicker(watchEvery)
	defer every.Stop()
	for {
		if err := w.Look(ctx); ctx.Err() == nil {
			t.looked(err)
		}
		select {
		case <-every.C:
		case <-ctx.Done():
			return
		}
	}
}

// trouble logs failed checks, but a retriable failure only if the check before it failed too: a new
// cluster has no coordinator at first.
type trouble struct {
	complaint *engine.Complaint
	failed    int
}

func (t *trouble) looked(err error) {
	if err == nil {
		t.failed = 0
		return
	}
	if t.failed++; t.failed > 1 || engine.Fatal(err) {
		t.complaint.About("compare the retention of the topics with the unsettled records", err)
	}
}

// Look checks once; an error leaves the alarm unchanged.
func (w *Watch) Look(ctx context.Context) error {
	w.looking.Lock()
	defer w.looking.Unlock()
	adm := kadm.NewClient(w.cl)
	bounds := make(map[string]*bound, len(w.topics))
	for _, topic := range w.topics {
		b, err := w.bound(ctx, adm, topic)
		if err != nil {
			return err
		}
		bounds[topic] = b
	}
	// Last, so that records that were settled and then deleted are no longer needed.
	needs, err := w.needed(ctx)
	if err != nil {
		return err
	}
	slices.SortStableFunc(needs, func(a, b Need) int { return cmp.Compare(a.Partition, b.Partition) })
	for _, b := range bounds {
		w.sizes(ctx, adm, b, needs)
	}
	w.mu.Lock()
	w.found = bounds
	w.mu.Unlock()
	var all []threat
	for _, n := range needs {
		if b := bounds[n.Topic]; b != nil {
			all = append(all, b.threatens(n)...)
		}
	}
	w.say(all)
	return nil
}

func (w *Watch) say(all []threat) {
	var alarm, about []string
	for _, t := range all {
		alarm, about = append(alarm, t.text), append(about, t.about)
	}
	w.mu.Lock()
	before := w.about
	w.last, w.about = strings.Join(alarm, "; "), strings.Join(about, "; ")
	now, said := w.about, w.last
	w.mu.Unlock()
	switch {
	case now != "" && now != before:
		w.log.Warn("kmq: retention does not cover all unsettled records", "alarm", said)
	case now == "" && before != "":
		w.log.Info("kmq: retention covers all unsettled records again")
	}
}

func (w *Watch) news(what string) bool {
	before := w.silent[what]
	w.silent[what] = true
	return !before
}
