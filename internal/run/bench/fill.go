package bench

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"kafkabench.example/kafka-bench/internal/load"
	"kafkabench.example/kafka-bench/internal/load/send"
	"kafkabench.example/kafka-bench/internal/measure/ledger"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/judge"
)

// A run may fill its topic before the measurement. The filling producers are the load's producers
// in a closed loop, numbered after the run's own. The run's axis has no zero yet, so the warm-up's
// book counts the records, and no histogram does. Each run fills its own topic: a second run would
// find offsets, page cache and log as the first left them.

// readsFill reports whether consumers read the fill. They are then held until the measured window.
func readsFill(s scenario.Scenario) bool {
	return s.Filled() && s.Consume.Consumers > 0 && (s.Load.Producers == 0 || s.Consume.From == "start")
}

func (r *run) fillTopic(ctx context.Context) error {
	if !r.cfg.Scenario.Filled() {
		return nil
	}
	r.noteFill()
	if err := r.fillShare(ctx); err != nil {
		return err
	}
	was := r.fill.Outcome
	r.journal.Now("phase", "filled", fmt.Sprintf("%s records, %s in %s", unit.Count(was.Records), unit.Bytes(was.Bytes),
		unit.Span(time.Duration(was.TimeS*float64(time.Second)))))
	return early(ctx, r.awaitReadable(ctx), beingFilled)
}

func (r *run) noteFill() { r.journal.Now("phase", "fill", "") }

func (r *run) fillShare(ctx context.Context) error {
	cfg := r.fillConfig()
	if cfg.Only != nil && len(cfg.Only) == 0 {
		return nil // other parts have all producers that fill
	}
	ps, err := send.Open(cfg)
	if err != nil {
		return r.denied("the producers that fill the topic", err)
	}
	defer ps.Close()
	r.journal.Progress("filling the topic with "+fillAsked(r.cfg.Scenario), nil)
	began, beganNs := time.Now(), cfg.Axis.Now()
	ps.Start()
	if err := r.awaitFill(ctx, ps); err != nil {
		return early(ctx, fmt.Errorf("filling the topic: %w", err), beingFilled)
	}
	took := time.Since(began)
	ps.Close()
	r.keepFill(ps, took, beganNs)
	return nil
}

const beingFilled = "the topic was being filled"

func (r *run) fillConfig() send.Config {
	s := r.cfg.Scenario
	l := &s.Load
	l.Producers, l.Clients, l.Round = s.Fillers(), 0, 0
	l.Volume, l.Records, l.RecordsEach = s.Topic.Fill, r.cfg.Scenario.FillCount(), 0
	s.Backpressure = scenario.Backpressure{}
	cfg := sending{
		scenario: s, driver: r.cfg.Driver, brokers: r.seeds(), clusterID: r.clusterID(), clientID: r.clientID(), access: r.access(),
		runID: r.runID, topic: r.topic.Name, partitions: r.topic.Partitions,
		only: r.portion.fillers, axis: load.NewAxis(nil), corpus: r.corpus, keys: r.keys,
	}.config()
	cfg.First, cfg.Fill = r.cfg.Scenario.Load.Producers, true
	return cfg
}

const fillLook = time.Second

func (b *base) awaitFill(ctx context.Context, ps *send.Producers) error {
	tick := time.NewTicker(fillLook)
	defer tick.Stop()
	done := ps.Done()
	watch := newFillWatch(time.Duration(b.cfg.Scenario.Load.DeliveryTimeout))
	for {
		select {
		case <-done:
			return nil
		case <-ctx.Done():
			now, _ := ps.Sent()
			return fmt.Errorf("%w; %s", ctx.Err(), fillSoFar(now))
		case <-tick.C:
		}
		now, _ := ps.Sent()
		switch watch.look(time.Now(), now) {
		case fillRefused:
			return refusedFill(ps.Errors(false))
		case fillStuck:
			return fmt.Errorf("nothing came back from the client for %s, longer than its delivery timeout allows; %s",
				watch.patience, fillSoFar(now))
		case fillMoves:
		}
		so := unit.Bytes(now.AckedBytes)
		if b.cfg.Scenario.Topic.Fill == 0 {
			so = unit.Count(now.Acked)
		}
		b.journal.Progress(fmt.Sprintf("filling: %s of %s", so, fillAsked(b.cfg.Scenario)),
			map[string]any{"bytes": now.AckedBytes})
	}
}

func fillAsked(s scenario.Scenario) string {
	if n := s.FillCount(); n > 0 {
		return unit.Things(n, "record")
	}
	return unit.Bytes(int64(s.Topic.Fill))
}

func fillSoFar(s snapshot.Sent) string {
	return fmt.Sprintf("%s records were acknowledged, %s failed, %s were in flight", unit.Count(s.Acked),
		unit.Count(s.Failed+s.Unknown), unit.Count(s.InFlight()))
}

// fillPatience is added to the delivery timeout, because a client may check a record's age only
// after new metadata or a response.
const fillPatience = 30 * time.Second

type fillState int

const (
	fillMoves   fillState = iota
	fillRefused           // since the last look, records failed and none was acknowledged
	fillStuck             // no record completed for longer than the patience
)

type fillWatch struct {
	patience time.Duration
	before   snapshot.Sent
	moved    time.Time // last look with newly acked records; zero before the first look
}

func newFillWatch(deliveryTimeout time.Duration) *fillWatch {
	return &fillWatch{patience: deliveryTimeout + fillPatience}
}

func (w *fillWatch) look(at time.Time, now snapshot.Sent) fillState {
	before := w.before
	w.before = now
	failed, acked := now.Failed+now.Unknown > before.Failed+before.Unknown, now.Acked > before.Acked
	switch {
	case failed && !acked:
		return fillRefused
	case acked || w.moved.IsZero():
		w.moved = at
	case at.Sub(w.moved) > w.patience:
		return fillStuck
	}
	return fillMoves
}

func refusedFill(errors result.Counts) error {
	return fmt.Errorf("the brokers take no records: %s", cmp.Or(errors.Most(), "no reason was given"))
}

func (r *run) keepFill(ps *send.Producers, took time.Duration, beganNs int64) {
	sent, _ := ps.Sent()
	r.filledIn = ps.AckedIn(r.topic.Partitions)
	r.fill = &judge.Fill{
		Outcome: result.Fill{
			Records: sent.Acked, Bytes: sent.AckedBytes, Failed: sent.Failed, Unknown: sent.Unknown,
			TimeS: took.Seconds(), AckedPerS: float64(sent.Acked) / took.Seconds(),
			BoundedBytes: r.fillBound(), BoundedRecords: ifBounded(r.cfg.Scenario.FillCount(), r.asked.FillCount()),
			Producers: fillProducers(ps.Each(), beganNs),
		},
		Sent: sent, Errors: ps.Errors(false), Books: ps.Books(),
	}
	r.journal.Progress(fmt.Sprintf("filled: %s in %s", unit.Things(sent.Acked, "record"), unit.Span(took)), nil)
	if missing := sent.Failed + sent.Unknown; missing > 0 {
		r.warnings = append(r.warnings,
			fmt.Sprintf("the topic was not filled whole: of %s records %s failed, and the fate of %s is unknown",
				unit.Count(sent.Admitted), unit.Count(sent.Failed), unit.Count(sent.Unknown)))
	}
}

func fillProducers(each []send.Each, beganNs int64) []result.FillProducer {
	all := make([]result.FillProducer, len(each))
	for i, e := range each {
		all[i] = result.FillProducer{Producer: e.Number, Records: e.Acked, Bytes: e.AckedBytes}
		if e.Acked > 0 {
			all[i].TimeS = time.Duration(e.LastAckNs - beganNs).Seconds()
		}
		if all[i].TimeS > 0 {
			perS := float64(e.Acked) / all[i].TimeS
			all[i].AckedPerS = &perS
		}
	}
	return all
}

// With acks 1, acked records can be read only after the followers have fetched them.
const readableTimeout = 30 * time.Second

func (r *run) awaitReadable(ctx context.Context) error {
	wait, cancel := context.WithTimeout(ctx, readableTimeout)
	defer cancel()
	for {
		ends, err := r.lagReader.Ends(wait)
		if err == nil && readable(ends, nil, r.filledIn) { // the topic was new
			return nil
		}
		if wait.Err() == nil {
			select {
			case <-time.After(drainPoll):
				continue
			case <-wait.Done():
			}
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			return fmt.Errorf("the ends of the filled topic: %w", err)
		}
		// With acks 0 and 1, acked records may be lost, as the books report.
		r.warnings = append(r.warnings,
			fmt.Sprintf("%s after the fill the brokers had not all of its acknowledged records to read",
				readableTimeout))
		return nil
	}
}

func (r *run) sentBooks() []*ledger.Sender {
	books := r.producers.Last().Books
	if r.fill != nil && readsFill(r.cfg.Scenario) {
		books = slices.Concat(books, r.fill.Books)
	}
	return books
}
