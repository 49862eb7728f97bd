package chart

import (
	"fmt"
	"math"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/show/analysis"
	"kafkabench.example/kafka-bench/internal/show/draw"
)

// lag draws the consumer lag, the backlog and a controller's bound, and the rates below. For
// several runs, it draws only the lag, the commonBound and the delivered rate.
func lag(in Input) (draw.Spec, error) {
	s, err := in.over()
	if err != nil {
		return draw.Spec{}, err
	}
	var ps panels
	rates := draw.Free("records/s", draw.Linear, perS)
	if s.alone() {
		r := s.runs[0]
		err = ps.need(lagPanel(r))
		ps.add(panelOf(rates, r, call{"acked", acked}, call{"delivered", delivered}))
	} else {
		err = ps.need(sideBySide(draw.Free("consumer lag", draw.Linear, count), s.runs,
			func(r named) (draw.Series, error) { return lagSeries(r, r.name) }))
		if bound, has := commonBound(s.runs); err == nil && has {
			ps.all[0].Series = append(ps.all[0].Series, bound)
		}
		rates.Label = "delivered/s"
		ps.add(sideBySide(rates, s.runs, delivered.each))
	}
	if err != nil {
		return draw.Spec{}, err
	}
	return ps.spec(s, "Consumer lag", fmt.Sprintf("Consumer lag of %s over time, and below it the rates.", s.said()))
}

func lagPanel(r named) (draw.Panel, []string, error) {
	type of = func(named) (draw.Series, error)
	series, notes, err := gather([]of{
		func(r named) (draw.Series, error) { return lagSeries(r, "consumer lag") },
		func(r named) (draw.Series, error) { return backlog.of(r, "backlog") },
	}, func(of of) (draw.Series, error) { return of(r) })
	if bound, has := boundSeries(r); has {
		series = append(series, bound)
	}
	return draw.Panel{Y: draw.Free("records", draw.Linear, count), Series: series}, notes, err
}

// lagSeries draws each value until the next reading of the lag.
func lagSeries(r named, name string) (draw.Series, error) {
	s := draw.Series{Name: name, Figure: "lag_records", Kind: draw.Steps}
	levels, _ := analysis.LagOver(r.Intervals)
	if len(levels) == 0 {
		return s, r.lacks(intervalsFile, "lag_samples and no lag_records", "")
	}
	for _, l := range levels {
		s.X0, s.X1 = append(s.X0, float64(l.StartNs)), append(s.X1, float64(l.EndNs))
		s.Y = append(s.Y, float64(l.Records))
	}
	return s, nil
}

// boundSeries is the controller's bound until the load ended. It omits a bound for each partition,
// which cannot be compared with the lag of the whole topic.
func boundSeries(r named) (draw.Series, bool) {
	b := r.Run.Backpressure
	if b == nil || b.Per == "partition" {
		return draw.Series{}, false
	}
	name := "bound"
	if analysis.Estimates(b) {
		name = "bound of the backlog"
	}
	bound := field{name: "bound_records", value: func(i *result.Interval) float64 {
		if i.Phase == "drain" {
			return math.NaN() // no producer is held back
		}
		return some(i.BoundRecords)
	}}
	s, err := bound.of(r, name)
	return s, err == nil
}

// commonBound is the bound in the runs' scenarios, if all runs with a bound have the same one.
func commonBound(runs []named) (draw.Series, bool) {
	bound := draw.Series{Name: "max_lag", Figure: "max_lag_records", Kind: draw.Steps}
	for _, r := range runs {
		b := r.Run.Backpressure
		if b == nil || b.Per == "partition" || b.MaxLag == 0 {
			continue
		}
		if len(bound.Y) > 0 && bound.Y[0] != float64(b.MaxLag) {
			return bound, false
		}
		end := analysis.Window(&r.Run)
		if len(bound.X1) > 0 {
			end = max(end, int64(bound.X1[0]))
		}
		bound.X0, bound.X1, bound.Y = []float64{0}, []float64{float64(end)}, []float64{float64(b.MaxLag)}
	}
	return bound, len(bound.Y) > 0
}

func drain(in Input) (draw.Spec, error) {
	s, err := in.over()
	if err != nil {
		return draw.Spec{}, err
	}
	left := func(r named) (draw.Series, error) {
		if r.Run.Fill == nil {
			return draw.Series{}, r.lacks(runFile, "fill", "nothing was in the topic before the run")
		}
		return backlog.of(r, r.name)
	}
	var ps panels
	if err := ps.need(sideBySide(draw.Free("records left", draw.Linear, count), s.runs, left)); err != nil {
		return draw.Spec{}, err
	}
	ps.all[0].Y.Scale = draw.Linear // it shows that the records end at 0
	ps.add(sideBySide(draw.Free("delivered/s", draw.Linear, perS), s.runs, delivered.each))
	notes, err := in.repeatNotes("queue_acked_per_s", "throughput_per_s")
	if err != nil {
		return draw.Spec{}, err
	}
	s.notes = append(s.notes, notes...)
	return ps.spec(s, "Drain of a filled topic",
		fmt.Sprintf("Records of the fill that %s had still to read, over time.", s.said()))
}

func receiveRate(in Input) (draw.Spec, error) {
	s, err := in.over()
	if err != nil {
		return draw.Spec{}, err
	}
	var ps panels
	again := draw.Free("redelivered/s", draw.Linear, perS)
	if err := ps.need(sideBySide(again, s.runs, redelivered.each)); err != nil {
		return draw.Spec{}, err
	}
	ps.add(sideBySide(draw.Free("received/s", draw.Linear, perS), s.runs, delivered.each))
	ps.add(sideBySide(draw.Free("acknowledged/s", draw.Linear, perS), s.runs, ackedByQueue.each))
	notes, err := in.repeatNotes("queue_deliveries_per_record", "redelivery_lateness_p99")
	if err != nil {
		return draw.Spec{}, err
	}
	s.notes = append(s.notes, notes...)
	return ps.spec(s, "Deliveries of a queue", fmt.Sprintf(
		"Records per second that the consumers of %s were handed again, handed in all and acknowledged.", s.said()))
}
