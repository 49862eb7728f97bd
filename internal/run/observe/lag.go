package observe

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/probe"
	"kafkabench.example/kafka-bench/internal/lagcontrol"
	"kafkabench.example/kafka-bench/internal/load"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/judge"
)

// ReadTimeout bounds one reading of the lag.
const ReadTimeout = 5 * time.Second

// LagConfig configures a Lag.
type LagConfig struct {
	Axis    *load.Axis
	Reader  *probe.LagReader
	Journal *Journal
	Topic   string
	Period  time.Duration // of the time series
	// Others reports that other processes share the bound of the lag. They may see a newer commit
	// than a reading does, and then admit more records. So the reader also asks for the least
	// possible lag.
	Others bool
	// Delivered returns the consumers' progress by partition if they report it to the controller;
	// nil otherwise.
	Delivered func() []int64
}

// Lag reads the consumer lag as the brokers report it, for the series and for the gate's
// controller. With several groups, both use the slowest. It may be used from several goroutines.
type Lag struct {
	LagConfig

	// asking is held during a reading. If two readings overlapped, the gate could admit records for
	// the commits of the newer one, and the other one would report a lag that never existed.
	asking sync.Mutex

	mu     sync.Mutex
	latest lagReading
	fresh  []result.LagSample
	peak   *int64         // since the measured window began; nil before it
	least  *int64         // the same of the least possible lag; nil without others
	peaks  []int64        // the same by group
	window *judge.LagPeak // in the measured window; nil before it
	oldest int64          // greatest age of a reading that the gate used
}

// NewLag returns a reader of the lag that has read nothing yet.
func NewLag(cfg LagConfig) *Lag { return &Lag{LagConfig: cfg} }

// Every returns the period of the time series.
func (l *Lag) Every() time.Duration { return l.Period }

type lagReading struct {
	probe.Lag
	groups []probe.Lag
	asked  int64
	known  bool
}

// Look reads the lag for the time series.
func (l *Lag) Look(ctx context.Context) { l.read(ctx) }

// ErrNoLag reports that the lag is unknown now.
var ErrNoLag = errors.New("the lag could not be read")

// ForGate reads the lag for the gate. In each partition it uses the group that is furthest behind,
// so that committed offsets never go back if another group becomes the slowest.
func (l *Lag) ForGate(ctx context.Context) (lagcontrol.Reading, error) {
	var delivered []int64
	if l.Delivered != nil {
		delivered = l.Delivered() // read before the high watermarks, as committed offsets are
	}
	reading, ok := l.read(ctx)
	l.noteAge(l.Axis.Now())
	if !ok {
		return lagcontrol.Reading{}, ErrNoLag
	}
	return GateReading(l.Topic, reading.groups, delivered), nil
}

// GateReading returns a gate's reading of the lag of groups that read every record. delivered is
// their progress by partition; nil if they do not report it.
func GateReading(topic string, groups []probe.Lag, delivered []int64) lagcontrol.Reading {
	r := lagcontrol.Reading{Partitions: make([]lagcontrol.Partition, len(groups[0].Ends))}
	for id := range r.Partitions {
		p := &r.Partitions[id]
		*p = lagcontrol.Partition{Topic: topic, ID: int32(id), Committed: math.MaxInt64, End: groups[0].Ends[id]}
		for _, group := range groups {
			p.Committed = min(p.Committed, group.Committed[id])
		}
		if delivered != nil {
			p.Delivered = delivered[id]
		}
		r.Committed += p.Committed
		r.Lag += p.End - p.Committed
	}
	return r
}

func (l *Lag) ask(ctx context.Context) ([]probe.Lag, error) {
	if l.Others {
		return l.Reader.ReadBounds(ctx)
	}
	return l.Reader.Read(ctx)
}

func (l *Lag) read(ctx context.Context) (lagReading, bool) {
	limited, cancel := context.WithTimeout(ctx, ReadTimeout)
	defer cancel()
	l.asking.Lock()
	defer l.asking.Unlock()
	asked := l.Axis.Now()
	lags, err := l.ask(limited)
	if err != nil {
		if !errors.Is(ctx.Err(), context.Canceled) {
			l.Journal.Once("warning", "the lag could not be read", err)
		}
		return lagReading{}, false
	}
	if len(lags) == 0 {
		return lagReading{}, false
	}
	slowest := slices.MaxFunc(lags, func(a, b probe.Lag) int { return cmp.Compare(a.Records, b.Records) })
	reading := lagReading{Lag: slowest, groups: lags, asked: asked, known: true}
	l.keep(reading)
	return reading, true
}

func (l *Lag) keep(reading lagReading) {
	if !load.Placed(reading.asked) {
		return // a reading from before the axis is set has no place in the series
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.latest.known || reading.asked > l.latest.asked { // two readers may finish in another order
		l.latest = reading
	}
	l.fresh = append(l.fresh, result.LagSample{AtNs: reading.asked, Records: reading.Records,
		Partitions: reading.Partitions})
	if reading.asked < 0 {
		return
	}
	if l.peak == nil || reading.Records > *l.peak {
		l.peak = &reading.Records
	}
	// The slowest group by the least possible lag may be another one.
	least := probe.Lag{AtLeast: -1}
	if l.Others {
		least = slices.MaxFunc(reading.groups, func(a, b probe.Lag) int { return cmp.Compare(a.AtLeast, b.AtLeast) })
		if l.least == nil || least.AtLeast > *l.least {
			l.least = &least.AtLeast
		}
	}
	if l.peaks == nil {
		l.peaks = make([]int64, len(reading.groups))
	}
	for i, lag := range reading.groups {
		l.peaks[i] = max(l.peaks[i], lag.Records)
	}
	if !l.Axis.InWindow(reading.asked) {
		return
	}
	if l.window == nil {
		l.window = &judge.LagPeak{}
	}
	l.window.Records = max(l.window.Records, reading.Records)
	if l.Others {
		if l.window.AtLeast == nil {
			l.window.AtLeast = &judge.LagPeak{}
		}
		l.window.AtLeast.Records = max(l.window.AtLeast.Records, least.AtLeast)
	}
}

func (l *Lag) noteAge(now int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.latest.known {
		l.oldest = max(l.oldest, now-l.latest.asked)
	}
}

func (l *Lag) now() lagReading {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.latest
}

func (l *Lag) takeFresh() []result.LagSample {
	l.mu.Lock()
	defer l.mu.Unlock()
	fresh := l.fresh
	l.fresh = nil
	return fresh
}

// Seen returns the results of the readings, with final values if the last reading began at or after
// finishedNs. Manual consumers have no committed offsets at the end.
func (l *Lag) Seen(finishedNs int64, manual bool) judge.Lag {
	l.mu.Lock()
	defer l.mu.Unlock()
	seen := judge.Lag{
		Peak: l.peak, PeakAtLeast: l.least, Peaks: l.peaks, Window: l.window, OldestSignalNs: l.oldest,
	}
	last := l.latest
	if !last.known || last.asked < finishedNs {
		return seen
	}
	seen.Final = &last.Records
	for i := range last.groups {
		seen.Finals = append(seen.Finals, &last.groups[i].Records)
	}
	if manual {
		return seen
	}
	first := last.groups[0]
	for p, end := range first.Ends[:min(len(first.Ends), math.MaxInt32)] {
		seen.FinalPartitions = append(seen.FinalPartitions, result.PartitionOffsets{
			Partition: int32(p), Committed: first.Committed[p], End: end, Lag: first.Partitions[p],
		})
	}
	return seen
}
