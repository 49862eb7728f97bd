// Package retention watches whether the retention of topics still covers the records that
// the queue needs.
//
// A broker deletes what is old, or too much, whether it was settled or not, and tells
// nobody. So a watch compares, every 30 s, the lowest offset of each partition that is
// still needed with where its log begins, and with what retention will delete next. What
// it finds is an alarm, for as long as it is so.
//
// Files to know: watch.go, bound.go, barren.go.
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

// watchEvery is how often it is looked.
const watchEvery = 30 * time.Second

// Need is from which offset on the records of a partition are still needed.
type Need struct {
	Topic     string
	Partition int32
	From      int64 // or Start
	// Record says that there is a record at From. Else that is only where reading goes on,
	// and there may be none.
	Record bool
}

// Start stands for where the log of a partition begins.
const Start = -1

// Watch compares what is still needed with what retention has deleted, or will delete
// next. Its methods may be called on any goroutine.
type Watch struct {
	cl     *kgo.Client
	log    *slog.Logger
	topics []string
	needed func(context.Context) ([]Need, error)

	looking sync.Mutex       // one look at a time, and what it remembers:
	silent  map[string]bool  // what was said to be not known
	barren  map[place]barren // where there was nothing to be read

	mu    sync.Mutex
	last  string   // the alarm of the last look
	about string   // what it is about, without its figures
	kept  []string // what can't be mended
	more  int      // such, beyond keptAtMost

	stop context.CancelFunc
	done chan struct{}
}

// New begins to watch topics. needed says what is needed of them; an error of it is logged,
// and asked for again at the next look. The client must outlive the watch.
func New(cl *kgo.Client, log *slog.Logger, needed func(context.Context) ([]Need, error), topics ...string) *Watch {
	w := &Watch{
		cl: cl, log: log, topics: topics, needed: needed,
		silent: make(map[string]bool), barren: make(map[place]barren), done: make(chan struct{}),
	}
	ctx, stop := context.WithCancel(context.Background())
	w.stop = stop
	go w.run(ctx)
	return w
}

// Close ends the watch. The alarm stays what it is.
func (w *Watch) Close() {
	w.stop()
	<-w.done
}

// Alarm says what is about to be lost; empty: nothing.
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

// keptAtMost is how many alarms that stay are told in full.
const keptAtMost = 3

// Keep adds an alarm that stays: what is lost already.
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

// trouble logs that looks fail: from the second in a row on, where trying again may help, as
// a cluster that is new has no coordinator for a while.
type trouble struct {
	complaint *engine.Complaint
	failed    int // in a row
}

// looked is told how each look ended.
func (t *trouble) looked(err error) {
	if err == nil {
		t.failed = 0
		return
	}
	if t.failed++; t.failed > 1 || engine.Fatal(err) {
		t.complaint.About("compare the retention of the topics with what is not settled", err)
	}
}

// Look compares once; tests need not wait for the next time. With an error the alarm is
// what it was.
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
	// Asked for last: what was settled and deleted meanwhile is not needed any more.
	needs, err := w.needed(ctx)
	if err != nil {
		return err
	}
	slices.SortStableFunc(needs, func(a, b Need) int { return cmp.Compare(a.Partition, b.Partition) })
	for _, b := range bounds {
		w.sizes(ctx, adm, b, needs)
	}
	var all []threat
	for _, n := range needs {
		if b := bounds[n.Topic]; b != nil {
			all = append(all, w.threats(ctx, adm, b, n)...)
		}
	}
	w.say(all)
	return nil
}

// say keeps the alarm. It is logged when it begins, ends, or is about something else; that
// its figures change is no news.
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
		w.log.Warn("kmq: retention does not cover what is not settled", "alarm", said)
	case now == "" && before != "":
		w.log.Info("kmq: retention covers what is not settled again")
	}
}

// news is whether it was not said yet that something is not known. It is said once, until
// it is known again.
func (w *Watch) news(what string) bool {
	before := w.silent[what]
	w.silent[what] = true
	return !before
}
