package bench

import (
	"context"
	"sync"
	"time"

	"kafka-bench/backpressure"
	"kafka-bench/internal/load"
	"kafka-bench/internal/probe"
	"kafka-bench/internal/result"
)

// lagTimeout bounds one reading of the lag, so that a broker that does not
// answer leaves a gap in the series and does not end it.
const lagTimeout = 5 * time.Second

// lagWatch reads the consumer lag as the brokers tell it, for the series and for
// the gate's controller. It may be used from several goroutines.
type lagWatch struct {
	axis    *load.Axis
	reader  *probe.LagReader
	gate    *backpressure.Gate // nil: no backpressure
	journal *journal

	mu     sync.Mutex
	latest lagReading
	fresh  []result.LagSample // since they were last taken
	peak   *int64             // since the start of the measured window; nil before it
	oldest int64              // the greatest age of what the gate's decisions rested on
}

// lagReading is a lag and when it was asked for.
type lagReading struct {
	probe.Lag
	asked int64
	known bool
}

// forSeries reads the lag for the time series.
func (l *lagWatch) forSeries(ctx context.Context) { l.read(ctx) }

// forGate reads the lag and reports it to the gate.
func (l *lagWatch) forGate(ctx context.Context) {
	reading, ok := l.read(ctx)
	now := l.axis.Now()
	l.noteAge(now)
	if !ok {
		return
	}
	change := l.gate.Report(time.Duration(now), reading.Records, time.Duration(now-reading.asked))
	if change == nil {
		return
	}
	what := "gate closed"
	if change.Open {
		what = "gate opened"
	}
	l.journal.event(result.Event{AtNs: now, Kind: "backpressure", What: what, Reason: change.Reason,
		Data: map[string]any{"lag_records": change.Lag, "signal_age_ns": int64(change.Age), "open": change.Open}})
}

func (l *lagWatch) read(ctx context.Context) (lagReading, bool) {
	limited, cancel := context.WithTimeout(ctx, lagTimeout)
	defer cancel()
	asked := l.axis.Now()
	lag, err := l.reader.Read(limited)
	if err != nil {
		if ctx.Err() == nil { // otherwise nobody waits for it any more
			l.journal.once("warning", "the lag could not be read", err)
		}
		return lagReading{}, false
	}
	reading := lagReading{Lag: lag, asked: asked, known: true}
	l.keep(reading)
	return reading, true
}

func (l *lagWatch) keep(reading lagReading) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.latest.known || reading.asked > l.latest.asked { // two readers may overtake each other
		l.latest = reading
	}
	l.fresh = append(l.fresh, result.LagSample{AtNs: reading.asked, Records: reading.Records, Partitions: reading.Partitions})
	if reading.asked >= 0 && (l.peak == nil || reading.Records > *l.peak) {
		l.peak = &reading.Records
	}
}

// noteAge keeps how old the latest reading is, which grows while none succeeds.
func (l *lagWatch) noteAge(now int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.latest.known {
		l.oldest = max(l.oldest, now-l.latest.asked)
	}
}

// oldestSignal is the greatest age of what the gate's decisions rested on.
func (l *lagWatch) oldestSignal() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.oldest
}

// now returns the latest reading.
func (l *lagWatch) now() lagReading {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.latest
}

// takeFresh returns the readings since the last call.
func (l *lagWatch) takeFresh() []result.LagSample {
	l.mu.Lock()
	defer l.mu.Unlock()
	fresh := l.fresh
	l.fresh = nil
	return fresh
}

// highest returns the peak since the start of the measured window, nil if there
// was no reading.
func (l *lagWatch) highest() *int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.peak
}
