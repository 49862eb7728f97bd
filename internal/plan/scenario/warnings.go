package scenario

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"kafkabench.example/kafka-bench/internal/plan/unit"
)

// Warnings returns what is valid but changes the meaning of the figures, or is probably not meant;
// the result should contain it. Records smaller than stampBytes have no stamp.
func (s Scenario) Warnings(stampBytes int) []string {
	return slices.Concat(s.loadWarnings(stampBytes), s.consumeWarnings(), s.queueWarnings(), s.backpressureWarnings(),
		s.faultWarnings(), s.phaseWarnings())
}

type warnings []string

func (w *warnings) when(holds bool, format string, values ...any) {
	if holds {
		*w = append(*w, fmt.Sprintf(format, values...))
	}
}

func (s Scenario) loadWarnings(stampBytes int) (w warnings) {
	l := s.Load
	if l.Producers == 0 && !s.Filled() {
		return nil
	}
	smallest, largest := l.Record.Size.Bounds()
	w.when(smallest < unit.Size(stampBytes) && !l.Record.Header(),
		"load.record.size: records below the %d bytes of the stamp carry none: throughput only, no end-to-end times and no check of what was delivered; load.record.stamp: header gives them one", stampBytes)
	w.when(l.Rate.IsMax(), "load.rate: max is closed loop: there is no schedule, so response times are not reported")
	w.when(l.MaxRate.Records > 0 && s.Unpaced(),
		"load.max_rate: what has no schedule, a closed loop or a fill, sends at most %s: more may be possible", l.MaxRate)
	w.when(l.Round > 0 && l.Linger > 0 && l.Batch != OneRecord && l.Producers > 0,
		"load.round: a round that does not fill a batch waits for load.linger, %s, before it is sent", l.Linger)
	w.when(l.Acks == "0",
		"load.acks: with acks 0 a record counts as acked once it is written to the socket; what the broker lost shows as lost")
	w.when(l.Acks == "1" && l.Producers > 0 && s.Topic.Replication > 1 && s.Topic.Existing == "",
		"load.acks: with acks 1 a replicated topic may lose acked records when a leader fails, and its figures are those of the leader alone")
	w.when(l.Record.Keys.Distribution != "none" && l.Partitioning != "key",
		"load.partitioning: the records have keys, and %s does not go by them", l.Partitioning)
	peaks := l.Arrival.Process == "burst" || l.Arrival.Process == "spike"
	w.when(peaks && l.Arrival.Peak.PerSecond() <= l.Rate.PerSecond(),
		"load.arrival.peak: the peak of %s is not above load.rate, %s", l.Arrival.Peak, l.Rate)
	w.when(l.Arrival.Process == "ramp" && l.Arrival.To == l.Rate,
		"load.arrival.to: the ramp ends at the rate that it starts from, %s", l.Rate)
	buffer := float64(largest) * float64(l.MaxBuffered) * float64(s.ProducingClients())
	w.when(buffer > float64(unit.GiB), "load.max_buffered: the clients may hold %s of records",
		unit.Bytes(int64(min(buffer, math.MaxInt64/2))))
	return w
}

func (s Scenario) consumeWarnings() (w warnings) {
	g := s.Consume
	w.when(g.Consumers == 0,
		"consume.consumers: nobody consumes: there are no end-to-end times, and what was lost is not found")
	w.when(g.Consumers > s.Topic.Partitions && s.Topic.Existing == "",
		"consume.consumers: %d consumers share %d partitions; %d of them will be idle", g.Consumers, s.Topic.Partitions, g.Consumers-s.Topic.Partitions)
	w.when(s.Load.Producers == 0 && g.From == "end",
		"consume.from: this run has no producers: it reads what others write until the measured window ends")
	w.when(g.Consumers > 0 && g.Assignment == "group" && !g.Commit.EachBatch && g.Commit.Interval > s.Phases.Measure,
		"consume.commit: an interval of %s is longer than the measured window; consumer lag will mostly show uncommitted records", g.Commit.Interval)
	return w
}

func (s Scenario) backpressureWarnings() (w warnings) {
	b := s.Backpressure
	if b.Controller == "off" {
		const choose = "; choose a controller, as in controller: credit"
		w.when(b.MaxLag != 0 || b.ResumeLag != 0,
			"backpressure: it is off, so max_lag and resume_lag have no effect"+choose)
		w.when(b.Target != 0, "backpressure: it is off, so target has no effect"+choose)
		return w
	}
	if needed, allowed := NeededBound(s), b.MaxLag; allowed > 0 && allowed < needed {
		w = append(w, fmt.Sprintf("%s%s records; it is %s", SmallBound, unit.Count(needed), unit.Count(allowed))+
			". Less holds back consumers that keep up: what they took stays in the lag until the gate hears of it")
	}
	return w
}

// SmallBound begins the warning of a bound below NeededBound; the needed bound follows.
const SmallBound = "backpressure.max_lag: give at least "

// silence is Kafka's default session timeout in both protocols (KIP-735, KIP-848).
const silence = unit.Duration(45 * time.Second)

// brokerSilence is the default of group.min.session.timeout.ms.
const brokerSilence = unit.Duration(6 * time.Second)

func (s Scenario) faultWarnings() (w warnings) {
	g := s.Consume
	w.when(g.SessionTimeout > 0 && g.SessionTimeout < brokerSilence &&
		s.Cluster.Config["group.min.session.timeout.ms"] == "",
		"consume.session_timeout: a broker refuses less than %s unless group.min.session.timeout.ms is lower there", brokerSilence)
	timeout := s.silence()
	crew := newCrew(g.Consumers)
	for _, f := range s.Faults {
		away := f.At + f.For
		w.when(f.For > 0 && away >= s.Phases.Measure,
			"faults: %s at %s lasts for %s, until after the measured window", f, f.At, f.For)
		if f.Target().Kind != ConsumerTarget {
			continue
		}
		crew.until(f.At)
		crew.set(f.Target().Number, f)
		w.when(f.Action() == Kill && f.At+timeout >= s.Phases.Measure && (f.For == 0 || f.For > timeout),
			"faults: %s is killed at %s, and Kafka reassigns its partitions only after %s of silence, after the measured window", f.Target(), f.At, timeout)
	}
	crew.until(s.Phases.Measure)
	w.when(len(s.Faults) > 0 && g.Consumers > 0 && crew.count() == 0,
		"faults: no consumer runs at the end of the measured window, so the topic is not drained")
	return append(w, s.brokerFaultWarnings()...)
}

// For a share group the brokers set the session timeout.
func (s Scenario) silence() unit.Duration {
	if ms, err := strconv.Atoi(s.Cluster.Config["group.share.session.timeout.ms"]); err == nil &&
		s.Consume.Queue.Engine == "share" {
		return unit.Duration(time.Duration(ms) * time.Millisecond)
	}
	return cmp.Or(s.Consume.SessionTimeout, silence)
}

func (s Scenario) phaseWarnings() (w warnings) {
	p := s.Phases
	w.when(p.Warmup == 0 && s.Load.Producers > 0,
		"phases.warmup: there is none, so the figures include opening connections and the JIT of cold brokers")
	w.when(p.Drain == 0 && s.Consume.Consumers > 0 && s.Load.Producers > 0,
		"phases.drain: there is none, so records in flight at the end stay undelivered")
	w.when(s.Sampling.Interval > p.Measure,
		"sampling.interval: %s is longer than the measured window, so there is no series", s.Sampling.Interval)
	return w
}

// Gates reports whether the producers use a gate.
func (b Backpressure) Gates() bool { return b.Controller != "" && b.Controller != "off" }

// ProducingClients returns the number of clients that the producers share.
func (s Scenario) ProducingClients() int {
	if s.Load.Clients > 0 {
		return s.Load.Clients
	}
	return s.Load.Producers
}
