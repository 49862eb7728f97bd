package chart

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/figure"
	"kafkabench.example/kafka-bench/internal/show/draw"
)

func inWords(metric string) string { return strings.ReplaceAll(metric, "_", " ") }

type curve struct {
	shares, ns []float64 // ascending; shares are below 1
	of         int64     // number of records that the shares refer to
	whole      bool      // they include records that had not ended
}

// percentiles draws all runs in one panel. With OfScheduled, each run has its own panel, and the
// shares include records that did not arrive.
func percentiles(in Input) (draw.Spec, error) {
	s, err := in.selected()
	if err != nil {
		return draw.Spec{}, err
	}
	metric := metricOf(s.runs)
	if in.OfScheduled {
		return censored(s, metric)
	}
	series, notes, err := gather(s.runs, func(r named) (draw.Series, error) {
		c, err := curveOf(r, metric)
		s.notes = append(s.notes, c.notes(r, metric)...)
		return c.series(r.name, metric), err
	})
	if err != nil {
		return draw.Spec{}, err
	}
	return draw.Spec{
		Title:  s.title("Percentiles of the " + inWords(metric)),
		X:      draw.Free("percentile of the records", draw.Percentile, percentile),
		Panels: []draw.Panel{{Y: draw.Free(inWords(metric), draw.Log, nanos), Height: 300, Series: series}},
		Alt:    fmt.Sprintf("The %s of %s by percentile.", inWords(metric), s.said()),
		Notes:  slices.Concat(s.notes, notes),
	}, nil
}

func (c curve) series(name, metric string) draw.Series {
	return draw.Series{Name: name, Figure: "time." + metric, Kind: draw.Line, X0: c.shares, Y: c.ns}
}

func (c curve) notes(r named, metric string) []string {
	open := notEnded(&r.Run, metric)
	switch {
	case open == 0 || len(c.ns) == 0:
		return nil
	case c.whole:
		return []string{fmt.Sprintf("%s: of all %s records, %s of which had not ended.", r.name, unit.Count(c.of),
			unit.Count(open))}
	}
	return []string{fmt.Sprintf("%s: of the %s records that ended; %s had not.", r.name, unit.Count(c.of),
		unit.Count(open))}
}

// notEnded is the number of records of a time that had not ended. Runs of method 1 did not count
// them: for end-to-end times, it is the records neither shed nor delivered.
func notEnded(r *result.Run, metric string) int64 {
	t := r.Time[metric]
	if r.Method() != 1 || !strings.HasPrefix(metric, "e2e_") || !r.Delivery.Checked {
		return t.NotEnded
	}
	return max(0, copies(r)*(r.Load.Scheduled-r.Load.Shed)-t.Count)
}

func metricOf(runs []named) string {
	return firstTime(runs, func(r named, metric string) bool {
		curves := r.Curves != nil && len(r.Curves.Ns[metric]) > 0
		return r.Run.Says("time."+metric) && (curves || r.Run.Time[metric].Count > 0)
	})
}

// For a run without curves.json, curveOf returns the percentiles of run.json that enough records
// support and that are not only lower bounds.
func curveOf(r named, metric string) (curve, error) {
	if !r.Run.Says("time." + metric) {
		return curve{}, r.lacks(runFile, "time."+metric, "the run could not measure it")
	}
	t := r.Run.Time[metric]
	c := curve{of: t.Count}
	if r.Curves != nil && len(r.Curves.Ns[metric]) > 0 {
		for i, ns := range r.Curves.Ns[metric] {
			if p := at(r.Curves.Percentiles, i); p < 100 { // the maximum has no place on this axis
				c.shares, c.ns = append(c.shares, p/100), append(c.ns, float64(ns))
			}
		}
		return c, nil
	}
	if r.Run.Method() >= 2 { // percentiles cover all records since method 2
		c.of, c.whole = t.Count+t.NotEnded, t.NotEnded > 0
	}
	var why string
	for _, statistic := range figure.Statistics {
		f, err := figure.Named(metric + "_" + statistic.Key)
		if err != nil || statistic.Percentile == 0 && statistic.Key != "min" {
			continue
		}
		if v, known := f.Value(&r.Run); known {
			c.shares, c.ns = append(c.shares, statistic.Percentile/100), append(c.ns, v)
		} else if why == "" {
			why = f.Missing(&r.Run)
		}
	}
	if len(c.shares) < 2 {
		return c, r.lacks(runFile, "percentiles of time."+metric, why)
	}
	return c, nil
}

// censored draws the times by the share of all scheduled records, in each group. The curve ends at
// the last record that arrived, and stripes show the outcomes of the others.
func censored(s selection, metric string) (draw.Spec, error) {
	spec := draw.Spec{
		Title: s.title("Percentiles of the " + inWords(metric) + ", of all scheduled records"),
		X:     draw.Free("share of the scheduled records", draw.Percentile, percentile),
		Alt: fmt.Sprintf("The %s of %s by percentile of all records that were scheduled. "+
			"Beyond the end of a curve is what became of the records that did not arrive.", inWords(metric), s.said()),
	}
	end := 0.0
	all, notes, err := gather(s.runs, func(r named) (draw.Panel, error) {
		p, last, err := censoredPanel(r, metric)
		if !s.alone() {
			p.Y.Label = r.name + ", " + p.Y.Label
		}
		end = max(end, last)
		return p, err
	})
	spec.X.Max, spec.Panels, spec.Notes = end, all, slices.Concat(s.notes, notes)
	var ns []float64
	for _, p := range all {
		ns = append(ns, p.Series[0].Y...)
	}
	for k := range all {
		all[k].Y.Min, all[k].Y.Max = extent(ns)
		for i := range all[k].Stripes {
			all[k].Stripes[i].To = min(all[k].Stripes[i].To, end)
		}
	}
	return spec, err
}

// censoredPanel also returns the end of its axis. The last stripe ends at 1, which is infinitely
// far on this axis, so it is drawn as wide as one more nine, such as from 0.9 to 0.99.
func censoredPanel(r named, metric string) (p draw.Panel, end float64, err error) {
	if !strings.HasPrefix(metric, "e2e_") {
		return p, 0, r.lacks(runFile, "time.e2e_response_time", "only what is delivered has an end to be missed")
	}
	if !r.Run.Delivery.Checked || r.Run.Load.Scheduled == 0 || !r.Run.Says("load.scheduled") || !r.Run.Says("delivery") {
		return p, 0, r.lacks(runFile, "books of the scheduled records", "")
	}
	c, err := curveOf(r, metric)
	if err != nil {
		return p, 0, err
	}
	total := float64(copies(&r.Run) * r.Run.Load.Scheduled)
	of := float64(c.of)
	if !c.whole {
		of = float64(r.Run.Delivery.Unique)
	}
	for i := range c.shares {
		c.shares[i] *= of / total
	}
	p = draw.Panel{Y: draw.Free(inWords(metric), draw.Log, nanos), Height: 240,
		Series: []draw.Series{c.series(r.name, metric)}, Stripes: stripes(&r.Run)}
	end = c.shares[len(c.shares)-1]
	if n := len(p.Stripes); n > 0 {
		end = max(end, 1-(1-p.Stripes[n-1].From)/10)
	}
	return p, end, nil
}

func copies(r *result.Run) int64 { return int64(max(1, r.Delivery.Copies)) }

func stripes(r *result.Run) (all []draw.Stripe) {
	n, d := copies(r), r.Delivery
	total := n * r.Load.Scheduled
	// A delivered record is not drawn as failed or unknown, even if its producer reported that.
	unknown := n*r.Load.Unknown - d.UnackedDelivered
	failed := n*r.Load.Failed + min(unknown, 0)
	reached := d.Unique
	for _, part := range []struct {
		name  string
		count int64
	}{
		{"pending", d.Pending}, {"lost", d.Lost}, {"corrupt", d.Corrupt - d.CorruptUnplaced}, {"shed", n * r.Load.Shed},
		{"deferred", n * r.Load.Deferred}, {"failed", failed}, {"unknown", unknown}, {"not accounted for", math.MaxInt64},
	} {
		part.count = min(part.count, total-reached)
		if part.count <= 0 {
			continue
		}
		all = append(all, draw.Stripe{From: float64(reached) / float64(total),
			To: float64(reached+part.count) / float64(total), Words: part.name + ": " + unit.Count(part.count)})
		reached += part.count
	}
	return all
}
