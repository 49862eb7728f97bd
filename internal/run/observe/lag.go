package observe

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"time"

	"kafkabench.example/kafka-bench/backpressure"
	"kafkabench.example/kafka-bench/internal/kafka/probe"
	"kafkabench.example/kafka-bench/internal/load"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/judge"
)

// ReadTimeout bounds one reading of the lag, so that a broker that does not
// answer leaves a gap in the series and does not end it.
const ReadTimeout = 5 * time.Second

// LagConfig says what lag is read, and for whom.
type LagConfig struct {
	Axis    *load.Axis
	Reader  *probe.LagReader
	Journal *Journal
	Topic   string
	Period  time.Duration // of the time series
	// Others is that other processes keep a bound, whom asking does not hold up. What
	// they let in for commits that a reading has not seen is in it then, so it is asked
	// what the lag was at the least, too.
	Others bool
	// Delivered returns how far the consumers have come in each partition, if they report
	// it to the controller; otherwise it is nil.
	Delivered func() []int64
}

// Lag reads the consumer lag as the brokers report it, for the series and for the gate's
// controller; of several groups both go by the slowest. It may be used from several
// goroutines.
type Lag struct {
	LagConfig

	// asking is held during a reading. If the gate were told of newer commits in the
	// middle of another one, what it then admits would be in the high watermarks, and
	// those commits not yet in the offsets that were asked for before them: a lag that
	// there never was.
	asking sync.Mutex

	mu     sync.Mutex
	latest lagReading
	fresh  []result.LagSample // since they were last taken
	peak   *int64             // since the start of the measured window; nil before it
	least  *int64             // likewise, of what it was at the least; nil but with others
	peaks  []int64            // likewise, by group
	window *judge.LagPeak     // in the measured window alone; nil before it
	oldest int64              // the greatest age of what the gate's decisions rested on
}

// NewLag returns a reader of the lag that has read nothing yet.
func NewLag(cfg LagConfig) *Lag { return &Lag{LagConfig: cfg} }

// Every is the period of the time series.
func (l *Lag) Every() time.Duration { return l.Period }

// lagReading is the lag of the slowest group, with that of each, and when they were
// asked for.
type lagReading struct {
	probe.Lag
	groups []probe.Lag
	asked  int64
	known  bool
}

// Look reads the lag for the time series.
func (l *Lag) Look(ctx context.Context) { l.read(ctx) }

// ErrNoLag: the lag is not known now.
var ErrNoLag = errors.New("the lag could not be read")

// ForGate reads the lag for the gate. In each partition the group counts that is the
// furthest behind there, so that what is committed only grows, whichever leads.
func (l *Lag) ForGate(ctx context.Context) (backpressure.Reading, error) {
	var delivered []int64
	if l.Delivered != nil {
		delivered = l.Delivered() // before the high watermarks, as what is committed
	}
	reading, ok := l.read(ctx)
	l.noteAge(l.Axis.Now())
	if !ok {
		return backpressure.Reading{}, ErrNoLag
	}
	return GateReading(l.Topic, reading.groups, delivered), nil
}

// GateReading lays together what a gate is told: the lag of the groups, each of which
// reads everything, and how far they have come, where they report it.
func GateReading(topic string, groups []probe.Lag, delivered []int64) backpressure.Reading {
	r := backpressure.Reading{Partitions: make([]backpressure.Partition, len(groups[0].Ends))}
	for id := range r.Partitions {
		p := &r.Partitions[id]
		*p = backpressure.Partition{Topic: topic, ID: int32(id), Committed: math.MaxInt64, End: groups[0].Ends[id]}
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

// ask asks for the lag, and where others keep the bound for both that it lies between.
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
		if !errors.Is(ctx.Err(), context.Canceled) { // otherwise nobody waits for it any more
			l.Journal.Once("warning", "the lag could not be read", err)
		}
		return lagReading{}, false
	}
	if len(lags) == 0 { // nobody commits
		return lagReading{}, false
	}
	slowest := slices.MaxFunc(lags, func(a, b probe.Lag) int { return cmp.Compare(a.Records, b.Records) })
	reading := lagReading{Lag: slowest, groups: lags, asked: asked, known: true}
	l.keep(reading)
	return reading, true
}

func (l *Lag) keep(reading lagReading) {
	if !load.Placed(reading.asked) {
		return // a gate looks before the run's clock begins, and that has no place in the series
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.latest.known || reading.asked > l.latest.asked { // two readers may overtake each other
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
	// Of each moment the slowest group, which by this may be another one.
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
	l.window.Partition = max(l.window.Partition, slices.Max(reading.Partitions))
	if l.Others {
		if l.window.AtLeast == nil {
			l.window.AtLeast = &judge.LagPeak{}
		}
		l.window.AtLeast.Records = max(l.window.AtLeast.Records, least.AtLeast)
		l.window.AtLeast.Partition = max(l.window.AtLeast.Partition, slices.Max(least.AtLeastPartitions))
	}
}

// noteAge keeps how old the latest reading is, which grows while none succeeds.
func (l *Lag) noteAge(now int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.latest.known {
		l.oldest = max(l.oldest, now-l.latest.asked)
	}
}

// now returns the latest reading.
func (l *Lag) now() lagReading {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.latest
}

// takeFresh returns the readings since the last call.
func (l *Lag) takeFresh() []result.LagSample {
	l.mu.Lock()
	defer l.mu.Unlock()
	fresh := l.fresh
	l.fresh = nil
	return fresh
}

// Seen returns what the readings have shown, once they have ended: finally, of a reading
// that was made when the drain had. Manual consumers have no offsets in the end.
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
