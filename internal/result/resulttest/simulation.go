package resulttest

import (
	"fmt"
	"math/rand/v2"
	"time"

	"kafkabench.example/kafka-bench/internal/result"
)

const (
	tick        = int64(time.Millisecond)
	second      = int64(time.Second)
	gatePoll    = 100 * int64(time.Millisecond)
	lagSample   = 500 * int64(time.Millisecond)
	commitEvery = second
	chunkLimit  = 200 // records of one poll
	batch       = 50  // about what a linger of 5 ms collects
)

// Times are on the run's time axis.
type record struct {
	due, sent, acked int64
	measured         bool
}

type partition struct {
	log       []record // acked at some time, in order
	delivered int
	processed int
	committed int
	chunk     []record // delivered, being processed
	freeAt    int64    // when the worker takes the next record
}

type simulation struct {
	plan       Plan
	random     *rand.Rand
	now        int64
	partitions []partition
	sent       int

	nextPoll        int64 // of the gate
	closed          bool
	deferred        []record
	closedNs        int64
	decisions       int64
	workedNs        int64
	deferPeak       int64
	drainEnd        int64
	load, warm      result.Load
	got, early      result.Delivery
	inWindow        struct{ acked, delivered int64 } // by time of the event
	deliveredBefore int64                            // the window

	total     times
	interval  result.Interval
	current   times
	lag       *int64
	lagParts  []int64
	lagAt     int64
	intervals []result.Interval
	events    []result.Event
}

func newSimulation(p Plan) *simulation {
	s := &simulation{
		plan:       p,
		random:     rand.New(rand.NewPCG(p.Seed, 0)),
		now:        -int64(p.Warmup),
		nextPoll:   -int64(p.Warmup),
		partitions: make([]partition, p.Partitions),
		total:      times{}, current: times{},
	}
	for i := range s.partitions {
		s.partitions[i].freeAt = s.now
	}
	return s
}

func (s *simulation) run() {
	measured, limit := int64(s.plan.Measure), int64(s.plan.Measure+s.plan.Drain)
	s.phase("warm-up")
	for ; s.now < limit; s.now += tick {
		switch s.now {
		case 0:
			s.phase("measure")
		case measured:
			s.phase("drain")
		}
		if s.now < measured {
			s.decide()
			s.offer()
		}
		s.consume()
		s.sample()
		if (s.now+tick)%second == 0 {
			s.closeInterval(s.now + tick)
		}
		if s.now > measured+10*tick && s.backlog() == 0 {
			break
		}
	}
	s.drainEnd = s.now
	for m := range s.plan.Members {
		s.commit(m)
	}
	s.readLag()
	s.closeInterval(s.now + tick)
}

func (s *simulation) phase(name string) {
	s.interval.StartNs, s.interval.Phase = s.now, name
	s.events = append(s.events, result.Event{AtNs: s.now, Kind: "phase", What: name})
}

func (s *simulation) decide() {
	if s.plan.MaxLag == 0 {
		return
	}
	if s.now >= s.nextPoll {
		s.nextPoll = s.now + gatePoll + s.random.Int64N(6)*tick
		lag := s.currentLag()
		switch {
		case !s.closed && lag > s.plan.MaxLag:
			s.turn(true, fmt.Sprintf("lag of %d records is above %d", lag, s.plan.MaxLag), lag)
		case s.closed && lag < s.plan.ResumeLag:
			s.turn(false, fmt.Sprintf("lag of %d records is below %d", lag, s.plan.ResumeLag), lag)
		}
	}
	if s.closed && s.now >= 0 {
		s.closedNs += tick
	}
}

func (s *simulation) turn(closed bool, reason string, lag int64) {
	s.closed = closed
	what := map[bool]string{true: "gate closed", false: "gate opened"}[closed]
	s.events = append(s.events, result.Event{
		AtNs: s.now, Kind: "backpressure", What: what, Reason: reason,
		Data: map[string]any{"lag_records": lag, "signal_age_ns": 2_100_000},
	})
	if s.now >= 0 {
		s.decisions++
	}
}

func (s *simulation) offer() {
	each := s.plan.RatePerS * tick / second
	if !s.closed {
		for _, r := range s.deferred {
			s.send(r)
		}
		s.deferred = nil
	}
	for i := range each {
		r := record{due: s.now + i*tick/each, measured: s.now >= 0}
		book := s.book(r)
		book.Scheduled++
		s.interval.Scheduled++
		switch {
		case !s.closed:
			s.send(r)
		case s.plan.Excess == "shed":
			book.Shed++
			s.interval.Shed++
		default:
			s.deferred = append(s.deferred, r)
		}
	}
	s.deferPeak = max(s.deferPeak, int64(len(s.deferred)))
}

func (s *simulation) book(r record) *result.Load {
	if r.measured {
		return &s.load
	}
	return &s.warm
}

func (s *simulation) send(r record) {
	lateness := int64(s.random.ExpFloat64() * 55_000)
	r.sent = max(r.due+lateness, s.now) + 400 + s.random.Int64N(2_000)
	r.acked = r.sent + s.random.Int64N(5_000_000) + 900_000 + int64(s.random.ExpFloat64()*400_000)
	p := &s.partitions[s.sent/batch%len(s.partitions)]
	p.log = append(p.log, r)
	s.sent++

	book := s.book(r)
	book.Admitted++
	book.Acked++
	book.Bytes += 512
	s.interval.Admitted++
	s.interval.Acked++
	if s.now >= 0 && s.now < int64(s.plan.Measure) {
		s.inWindow.acked++
	}
	s.time("pacer_lateness", r, lateness)
	s.time("send_delay", r, r.sent-r.due)
	s.time("send_service_time", r, r.acked-r.sent)
	s.time("send_response_time", r, r.acked-r.due)
}

func (s *simulation) consume() {
	for i := range s.partitions {
		p := &s.partitions[i]
		for p.freeAt <= s.now {
			if len(p.chunk) == 0 && !s.poll(p) {
				break
			}
			work := int64(s.plan.Work)
			if s.plan.Jitter > 0 {
				work += s.random.Int64N(int64(s.plan.Jitter))
			}
			r := p.chunk[0]
			p.chunk = p.chunk[1:]
			p.freeAt += work
			p.processed++
			s.interval.Processed++
			s.time("processed_response_time", r, p.freeAt-r.due)
			if s.now >= 0 && s.now < int64(s.plan.Measure) {
				s.workedNs += work
			}
		}
	}
	for m := range s.plan.Members {
		if (s.now+s.commitPhase(m))%commitEvery == 0 {
			s.commit(m)
		}
	}
}

// commitPhase spreads the members' commits over the second, as if they joined one after another.
func (s *simulation) commitPhase(member int) int64 {
	return (311 + int64(member)*commitEvery/int64(s.plan.Members)/tick) * tick
}

// poll reports whether there were any acked records.
func (s *simulation) poll(p *partition) bool {
	until := p.delivered
	for until < len(p.log) && until < p.delivered+chunkLimit && p.log[until].acked <= s.now {
		until++
	}
	if until == p.delivered {
		return false
	}
	p.chunk = p.log[p.delivered:until]
	p.delivered = until
	at := s.now + s.random.Int64N(tick)
	p.freeAt = max(p.freeAt, at)
	s.time("poll_time", record{measured: s.now >= 0}, 40_000+int64(s.random.ExpFloat64()*900_000))
	for _, r := range p.chunk {
		delivery := &s.got
		if !r.measured {
			delivery = &s.early
		}
		delivery.Delivered++
		delivery.Unique++
		s.interval.Delivered++
		switch {
		case s.now < 0:
			s.deliveredBefore++
		case s.now < int64(s.plan.Measure):
			s.inWindow.delivered++
		}
		s.time("e2e_service_time", r, at-r.sent)
		s.time("e2e_response_time", r, at-r.due)
	}
	return true
}

// A member owns every Members-th partition.
func (s *simulation) commit(member int) {
	for i := member; i < len(s.partitions); i += s.plan.Members {
		s.partitions[i].committed = s.partitions[i].processed
	}
}

func (s *simulation) currentLag() int64 {
	var lag int64
	for i := range s.partitions {
		lag += int64(len(s.partitions[i].log) - s.partitions[i].committed)
	}
	return lag
}

func (s *simulation) backlog() int64 {
	var backlog int64
	for i := range s.partitions {
		backlog += int64(len(s.partitions[i].log) - s.partitions[i].delivered)
	}
	return backlog
}

func (s *simulation) sample() {
	if s.now%lagSample == 0 {
		s.readLag()
	}
}

func (s *simulation) readLag() {
	lag := s.currentLag()
	s.lag, s.lagAt, s.lagParts = &lag, s.now, make([]int64, len(s.partitions))
	for i := range s.partitions {
		s.lagParts[i] = int64(len(s.partitions[i].log) - s.partitions[i].committed)
	}
}

func (s *simulation) time(metric string, r record, ns int64) {
	s.current.add(metric, ns)
	if r.measured {
		s.total.add(metric, ns)
	}
}

func (s *simulation) closeInterval(end int64) {
	i := &s.interval
	if i.StartNs >= end {
		return
	}
	i.EndNs = end
	i.DeferredRecords = int64(len(s.deferred))
	i.InFlightRecords = 30 + s.random.Int64N(10)
	if s.now >= int64(s.plan.Measure) {
		i.InFlightRecords = 0
	}
	at := s.lagAt
	i.LagRecords, i.LagPartitions, i.LagSampledNs = s.lag, s.lagParts, &at
	i.BacklogRecords = s.backlog()
	for k := range s.partitions {
		p := &s.partitions[k]
		backlog := int64(len(p.log) - p.delivered)
		i.BacklogPartition = append(i.BacklogPartition, backlog)
		if backlog > 0 {
			i.TimeLagNs = max(i.TimeLagNs, s.now-p.log[p.delivered].due)
		}
	}
	if s.plan.MaxLag > 0 {
		open := !s.closed
		i.GateOpen = &open
	}
	acked, delivered := 512*i.Acked, 512*i.Delivered
	i.AckedBytes, i.DeliveredBytes = &acked, &delivered
	i.Time = s.current.short()
	cores := 0.08 + float64(i.Acked)*22e-6 + s.random.Float64()*0.02
	rss := 58_000_000 + s.random.Int64N(4_000_000)
	i.ProcessCPUCores, i.ProcessRSSBytes = &cores, &rss
	i.BrokerCPUCores = []float64{0.11 + float64(i.Acked)*14e-6 + s.random.Float64()*0.03}
	i.GCCycles = s.random.Int64N(2)
	s.intervals = append(s.intervals, *i)
	s.interval = result.Interval{StartNs: end, Phase: i.Phase}
	s.current = times{}
}
