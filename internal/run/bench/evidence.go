package bench

import (
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/kafka/probe"
	"kafkabench.example/kafka-bench/internal/load/send"
	"kafkabench.example/kafka-bench/internal/measure/latency"
	"kafkabench.example/kafka-bench/internal/plan/payload"
	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/judge"
	"kafkabench.example/kafka-bench/internal/run/observe"
	"kafkabench.example/kafka-bench/internal/run/remote"
)

func (r *run) closeBooks() (*Outcome, error) {
	setup := r.setup()
	// release deletes the topic, so storage reads its size before. evidence comes after release,
	// which stops all producers and consumers.
	peaks := r.intervals.Peaks()
	brokers := observe.WithMetrics(observe.BrokersBetween(r.atStart, r.atEnd, peaks), r.brokers.Metrics())
	storage := r.storage(r.producers.Snapshot(remote.Want{}).Sent, r.atStart.Sending, r.atEnd.Sending, r.fill)
	r.release()
	for _, err := range r.leftBehind {
		r.warnings = append(r.warnings, err.Error())
	}
	e := r.evidence(setup)
	e.Machine = r.machine.Between(r.atStart, r.atEnd, e.AckedInWindow(), peaks)
	e.Machine.Process.CorpusBytes, e.Machine.Process.CorpusTimeNs = r.corpus.Bytes(), r.corpusNs
	e.Machine.Brokers, e.Machine.Storage = brokers, storage
	e.Machine.Compression = r.compression(r.atEnd.Sending)
	e.Warnings, e.Failed.Journal = r.warnings, r.journal.Failed()
	return r.save(e)
}

func (r *run) save(e *judge.Evidence) (*Outcome, error) {
	out := judge.Run(e)
	if err := errors.Join(r.writer.Curves(judge.Curves(e, &out)), r.writer.Finish(out)); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotSaved, err)
	}
	out.Run.ID = r.writer.ID()
	return &Outcome{Dir: r.writer.Dir(), Run: out}, nil
}

func (r *run) evidence(setup judge.Setup) *judge.Evidence {
	changes, letGoNs := r.changes.Seen()
	e := &judge.Evidence{
		Setup: setup,
		Window: judge.Window{
			StartedNs: r.startedNs, EndNs: r.axis.End(), FinishedNs: r.finishedNs, ConsumersNs: letGoNs,
			FetchingNs: r.fetchingSince(letGoNs), ReadyNs: r.readyNs,
			LateAtFinish: r.lateAtFinish, Interrupted: r.interrupted, Drained: r.drained, PartitionEnds: r.ends,
		},
		Start: r.atStart.Reading, End: r.atEnd.Reading,
		Sent: r.producers.Snapshot(remote.Want{}), AckedIn: r.acked(), Groups: r.groupsAtTheEnd(), Fill: r.fill,
		Times: r.collector, Histograms: histogramsIn(r.writer.Dir()),
		Seen: judge.Seen{
			WindowEnd: r.windowEnd, Changes: changes, Looks: r.looks.Seen(), Lag: r.lag.Seen(r.finishedNs, r.manual()),
		},
		Faults: r.faults.seen,
		Failed: judge.Failures{Producers: r.producers.Err(), Consumers: r.groups.Err(),
			ConsumersDied: r.groups.Dead() != nil},
		Caveats: r.cfg.Caveats,
	}
	if r.held != nil {
		e.Seen.Held = r.backlogsOf(r.held.Reached, r.held.AckedIn)
	}
	r.intervals.AddTo(&e.Seen)
	if r.faults.replicas != nil {
		e.Seen.Replicas = r.faults.replicas.Shown()
	}
	if r.queue != nil {
		e.Queue = &judge.Queue{
			Settled: r.queue.group.Settled(), Empty: r.queue.empty, InFlightPeak: r.intervals.InFlightPeak(),
		}
	}
	return e
}

// setup asks the cluster, so it comes before release.
func (r *run) setup() judge.Setup {
	s, work := r.cfg.Scenario, workPlan(r.cfg.Scenario.Consume)
	_, local := r.cfg.Cluster.(cluster.Local)
	setup := judge.Setup{
		Scenario: s, Recorded: r.recorded, Info: r.info(), Limits: r.allowed(), VolumeBoundedBytes: r.volumeBound(),
		VolumeBoundedRecords: ifBounded(s.Load.Count(), r.asked.Load.Count()),
		Expected:             r.expected(), PayloadFile: payloadFile(s, r.corpus), Stamped: r.stamped, ReadTo: r.readTo, ReadsFill: readsFill(s), LocalBrokers: local,
		PlainTimers: s.Load.Pacer == "precise" && !send.PreciseAvailable,
		Works:       !work.None(),
	}
	if len(work.Changes) == 0 {
		setup.MeanWorkS = work.Work.Mean().Seconds()
	}
	return setup
}

func payloadFile(s scenario.Scenario, corpus *payload.Corpus) *result.PayloadFile {
	stats := corpus.File()
	if stats == nil {
		return nil
	}
	p := s.Load.Record.Payload
	return &result.PayloadFile{
		Name: p.String(), Format: p.Format, SHA256: stats.SHA256, Records: int64(stats.Records), Bytes: stats.Bytes,
		MinBytes: stats.Min, MeanBytes: stats.Mean(), P50Bytes: stats.P50, P99Bytes: stats.P99, MaxBytes: stats.Max,
	}
}

func (r *run) groupsAtTheEnd() []judge.Group {
	all := make([]judge.Group, len(r.groups))
	for i, g := range r.groups {
		all[i] = judge.Group{
			Name: r.groupIDs[i], Workers: g.Workers(), AtStop: r.atStop[i],
			Standing: g.Standing(remote.Want{Books: r.queue != nil, Fresh: true}),
		}
		if r.queue != nil {
			all[i].Receivers = r.queue.group.Receivers()
		} else {
			all[i].Receivers = g.Receivers()
		}
		all[i].Gaps = g.DeliveryGaps()
	}
	return all
}

func histogramsIn(dir string) iter.Seq2[latency.LogEntry, error] {
	return func(yield func(latency.LogEntry, error) bool) {
		log, err := os.Open(filepath.Join(dir, result.HistogramsFile))
		if err != nil {
			yield(latency.LogEntry{}, err)
			return
		}
		defer log.Close()
		latency.ReadLog(log)(yield)
	}
}

// expected is nil if the number of records is random or unknown.
func (r *run) expected() *float64 {
	// A volume is divided by bytes: if sizes differ, some workers end before others.
	if r.arrivals == nil || r.interrupted || r.cfg.Scenario.Load.Volume > 0 ||
		r.cfg.Scenario.Load.Arrival.Process == "poisson" {
		return nil
	}
	records := r.arrivals.Expected(time.Duration(r.axis.End()))
	return &records
}

func (r *run) info() result.Info {
	info := result.Info{
		Name: r.cfg.Scenario.Name, StartedAt: r.axis.Wall(0), FinishedAt: r.axis.Wall(r.finishedNs),
		Interrupted: r.interrupted, DiskNotWatched: r.unwatched, Tool: r.cfg.Tool, MethodVersion: result.Method,
		Host:        result.Host(probe.DescribeHost()),
		Topic:       r.topic.Name,
		NotMeasured: r.plan.unknown, Expected: r.cfg.Expected, Labels: r.cfg.Labels, RetryOf: r.cfg.RetryOf,
		Phases: r.phases(),
	}
	if r.interrupted { // a reason that came after the last record ended nothing
		info.EndedByGuard = r.guard.ended()
	}
	if r.cfg.Cluster != nil {
		info.Cluster = clusterOf(r.cfg)
	}
	if r.cfg.Driver != nil {
		info.Driver = result.Driver{Name: r.cfg.Driver.Name(), Version: r.cfg.Driver.Version()}
	}
	if r.producers != nil {
		info.Driver.Producer = settings(r.producers.Settings())
	}
	if len(r.groups) > 0 {
		info.Driver.Consumer = settings(r.groups[0].Settings())
	}
	if r.cfg.Scenario.Consume.Consumers > 0 && len(r.groupIDs) == 1 && !r.manual() {
		info.Group = r.groupIDs[0]
	}
	if f := r.cfg.Fleet; f != nil {
		info.Placement, info.Session = Placed(r.cfg.Scenario, f.Placement()), f.Session()
	}
	return info
}

func clusterOf(cfg Config) result.Cluster {
	c := cfg.Cluster.Info()
	return result.Cluster{
		Kind: c.Kind, ID: c.ID, Version: c.Version, Brokers: c.Brokers, Note: c.Note, Settings: c.Settings,
		WarmedUpS: cfg.WarmedUp.Seconds(),
	}
}

// After an interrupt in the warm-up, the measured window has no length.
func (r *run) phases() []result.Phase {
	zero, end := min(0, r.axis.End()), r.axis.End()
	return []result.Phase{
		{Name: "warm-up", StartNs: r.startedNs, EndNs: zero},
		{Name: "measure", StartNs: zero, EndNs: end},
		{Name: "drain", StartNs: end, EndNs: max(r.finishedNs, end)},
	}
}

func settings(all []driver.Setting) []result.Setting {
	out := make([]result.Setting, len(all))
	for i, s := range all {
		out[i] = result.Setting{Name: s.Name, Value: s.Value}
	}
	return out
}
