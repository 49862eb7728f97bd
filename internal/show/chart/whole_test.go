package chart

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/figure"
	"kafkabench.example/kafka-bench/internal/result/resulttest"
	"kafkabench.example/kafka-bench/internal/show/analysis"
	"kafkabench.example/kafka-bench/internal/show/showtest"
)

func TestPercentiles(t *testing.T) {
	r := showtest.Simulate(t, resulttest.Baseline())
	e2e := r.Run.Time["e2e_response_time"]
	s := seriesOf(t, drawn(t, "percentiles", of1(r)), "baseline", "time.e2e_response_time")
	var shares []float64
	for _, p := range []float64{0, 50, 75, 90, 95, 99, 99.5, 99.9, 99.99} {
		shares = append(shares, p/100)
	}
	same(t, "percentiles of run.json", s.X0, shares)
	var times []float64
	for _, ns := range []int64{e2e.MinNs, e2e.P50Ns, e2e.P75Ns, e2e.P90Ns, e2e.P95Ns, e2e.P99Ns, e2e.P995Ns, e2e.P999Ns,
		e2e.P9999Ns} {
		times = append(times, float64(ns))
	}
	same(t, "times of run.json", s.Y, times)

	r.Curves = &result.Curves{Percentiles: []float64{0, 50, 90, 100},
		Ns: map[string][]int64{"e2e_response_time": {1, 5, 9, 11}}}
	s = seriesOf(t, drawn(t, "percentiles", of1(r)), "baseline", "time.e2e_response_time")
	same(t, "percentiles of curves.json", s.X0, []float64{0, 0.5, 0.9}) // 100 is infinitely far
	same(t, "times of curves.json", s.Y, []float64{1, 5, 9})

	few := showtest.Simulate(t, resulttest.Baseline())
	few.Run.Load.Scheduled = 500
	time := e2e
	time.Count, time.NotEnded = 500, 0
	few.Run.Time = map[string]result.Time{"e2e_response_time": time}
	s = seriesOf(t, drawn(t, "percentiles", of1(few)), "baseline", "time.e2e_response_time")
	if last := s.X0[len(s.X0)-1]; last != 0.95 {
		t.Errorf("of 500 records the highest percentile is %v: ten must lie beyond it", last)
	}
	few.Run.Time = nil
	lacking(t, "percentiles", of1(few), "percentiles of time.e2e_response_time", "run.json")
}

func TestPercentilesOfScheduled(t *testing.T) {
	r := showtest.Simulate(t, resulttest.OverloadTight())
	r.Curves = &result.Curves{Percentiles: []float64{0, 50, 90}, Ns: map[string][]int64{"e2e_response_time": {1, 5, 9}}}
	l, d := &r.Run.Load, &r.Run.Delivery
	l.Acked -= 600
	d.Unique -= 1000
	l.Failed, l.Unknown, l.Deferred = 100, 200, 300
	d.UnackedDelivered, d.Lost = 150, 40
	d.Pending = l.Acked - (d.Unique - d.UnackedDelivered) - d.Lost
	in := of1(r)
	in.OfScheduled = true
	spec := drawn(t, "percentiles", in)
	total := float64(l.Scheduled)
	arrived := float64(d.Unique) / total
	s := seriesOf(t, spec, "overload-tight", "time.e2e_response_time")
	same(t, "shares", s.X0, []float64{0, 0.5 * arrived, 0.9 * arrived})
	reached := d.Unique
	for i, part := range []struct {
		name  string
		count int64
	}{{"pending", d.Pending}, {"lost", 40}, {"shed", l.Shed}, {"deferred", 300}, {"failed", 100}, {"unknown", 50}} {
		got := spec.Panels[0].Stripes[i]
		name, _, _ := strings.Cut(got.Words, ":")
		if name != part.name || got.From != float64(reached)/total {
			t.Errorf("stripe %d is %+v, expected %s from %v", i, got, part.name, float64(reached)/total)
		}
		if reached += part.count; i < 5 && got.To != float64(reached)/total {
			t.Errorf("stripe %d is %+v, expected to end at %v", i, got, float64(reached)/total)
		}
	}
	if reached != l.Scheduled || len(spec.Panels[0].Stripes) != 6 || spec.X.Max >= 1 {
		t.Errorf("the stripes are %+v, and the axis ends at %v", spec.Panels[0].Stripes, spec.X.Max)
	}
	in.Runs = append(in.Runs, showtest.Simulate(t, resulttest.Overload()))
	if n := len(drawn(t, "percentiles", in).Panels); n != 2 {
		t.Errorf("two runs have %d panels: each has stripes of its own", n)
	}
}

func TestBooks(t *testing.T) {
	r := showtest.Simulate(t, resulttest.OverloadTight())
	spec := drawn(t, "books", of1(r))
	for figure, want := range map[string]int64{
		"load.scheduled": r.Run.Load.Scheduled, "load.shed": r.Run.Load.Shed, "load.acked": r.Run.Load.Acked,
		"delivery.unique": r.Run.Delivery.Unique,
	} {
		bars := spec.Panels[0].Series[0]
		at := slices.Index(strings.Fields(bars.Figure), figure)
		if at < 0 || bars.X1[at] != float64(want) || bars.Y[at] != float64(at) {
			t.Errorf("%s is not drawn as %d: %+v", figure, want, bars)
		}
	}
	if got := spec.Panels[0].Y.Categories; slices.Contains(got, "lost") {
		t.Errorf("what did not happen has a row: %q", got)
	}
	r.Run.Agents = []result.Agent{{HandedIn: true}, {Index: 1}}
	if got := drawn(t, "books", of1(r)).Title; !strings.HasSuffix(got, ", of the parts that were handed in") {
		t.Errorf("without a part the title is %q", got)
	}
	r.Run.Load = result.Load{}
	lacking(t, "books", of1(r), "load.scheduled", "run.json")
}

func TestCodecs(t *testing.T) {
	a, b := showtest.Simulate(t, resulttest.Baseline()), showtest.Simulate(t, resulttest.Baseline())
	showtest.Set("record.payload", "zeros")(&b.Run)
	for i := range b.Run.Compression {
		b.Run.Compression[i].Ratio *= 10
	}
	spec := drawn(t, "codecs", of1(a, b))
	if got := spec.X.Categories; !slices.Equal(got, []string{"json", "zeros"}) {
		t.Errorf("payloads %q", got)
	}
	for i, c := range a.Run.Compression {
		s := seriesOf(t, spec, c.Codec, "compression.ratio")
		same(t, c.Codec, s.Y, []float64{c.Ratio, b.Run.Compression[i].Ratio})
		same(t, c.Codec+", places", s.X0, []float64{0, 1})
	}
	a.Run.Verdict.Status = result.Invalid
	lacking(t, "codecs", of1(a), "compression of a valid run", "run.json")
}

// repeats returns n runs of each name; change sets what differs between the names.
func repeats(t *testing.T, n int, names []string, change func(name string, r *result.Run)) (runs []*result.Recorded) {
	made := showtest.NewMaker(t, 7)
	for _, name := range names {
		for range n {
			runs = append(runs, made.Run(name, 1, func(r *result.Run) { change(name, r) }))
		}
	}
	return runs
}

func bounds(values []float64) (low, median, high float64) {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return sorted[0], (sorted[(n-1)/2] + sorted[n/2]) / 2, sorted[n-1]
}

func TestCells(t *testing.T) {
	runs := repeats(t, 6, []string{"a", "b"}, func(name string, r *result.Run) {
		if name == "b" {
			r.Load.AckedPerS /= 2
		}
	})
	acked, err := figure.Named("acked_per_s")
	if err != nil {
		t.Fatal(err)
	}
	in := of1(runs...)
	in.Figures = []figure.Figure{acked}
	spec := drawn(t, "cells", in)
	var values []float64
	for _, r := range runs {
		values = append(values, r.Run.Load.AckedPerS)
	}
	dots, medians := seriesOf(t, spec, "runs", "acked_per_s"), seriesOf(t, spec, "median", "acked_per_s")
	same(t, "runs", dots.Y, values)
	for cell := range 2 {
		low, median, high := bounds(values[6*cell : 6*cell+6])
		same(t, "median", medians.Y[cell:cell+1], []float64{median})
		same(t, "bounds", []float64{medians.Low[cell], medians.High[cell]}, []float64{low, high})
	}
	in.Figures = nil // shed_ratio is 0 in all runs, and offered_per_s has no good side
	for _, p := range drawn(t, "cells", in).Panels {
		if name := p.Series[0].Figure; name == "shed_ratio" || name == "offered_per_s" {
			t.Errorf("%s is drawn, and tells nothing", name)
		}
	}
	lost, err := figure.Named("queue_lost")
	if err != nil {
		t.Fatal(err)
	}
	in.Figures = []figure.Figure{lost}
	lacking(t, "cells", in, "queue_lost", "run.json")
}

func TestBoundsAreCounted(t *testing.T) {
	runs := engines(t)
	p99 := analysis.FigureCalled(analysis.PrimaryName)
	time := runs[0].Run.Time["e2e_response_time"]
	time.AtLeast = []string{"p99_ns"}
	runs[0].Run.Time["e2e_response_time"] = time
	for _, chart := range []string{"cells", "threads"} {
		in := of1(runs...)
		in.Figures = []figure.Figure{p99}
		notes := drawn(t, chart, in).Notes
		for _, want := range []string{
			p99.Title + ": not drawn are 1 run with only a lower bound.",
			p99.Title + ": no interval is drawn of 1 configuration, as its upper end is not known.",
		} {
			if !slices.Contains(notes, want) {
				t.Errorf("chart %s has the notes %q, and not %q", chart, notes, want)
			}
		}
	}
}

func TestInvalidIsSaid(t *testing.T) {
	r := everything(t)
	r.Run.Verdict = result.Verdict{Status: result.Invalid, Reasons: []string{"it was late", "it lost records"}}
	ofRun := "overload-tight is invalid: it was late; it lost records."
	for chart, want := range map[string]string{
		"timeline": ofRun, "books": ofRun, "gate": ofRun, "resources": ofRun,
		"cells": "None of the runs of cell overload-tight is valid.",
	} {
		if notes := drawn(t, chart, of1(r)).Notes; !slices.Contains(notes, want) {
			t.Errorf("chart %s has the notes %q, and not %q", chart, notes, want)
		}
	}
}

func TestCellsAtNumbers(t *testing.T) {
	for _, c := range []struct {
		values []string
		want   []float64
	}{
		{[]string{"64B", "1KiB", "16kB"}, []float64{64, 1024, 16000}}, {[]string{"1", "4", "16"}, []float64{1, 4, 16}},
		{[]string{"none", "gzip", "zstd"}, []float64{0, 1, 2}}, {[]string{"0", "1", "all"}, []float64{0, 1, 2}},
	} {
		campaign := &result.RecordedCampaign{Runs: repeats(t, 1, c.values, func(string, *result.Run) {})}
		campaign.Campaign.Axes = []result.Axis{{Path: "load.x", Values: c.values}}
		for i, value := range c.values {
			campaign.Campaign.Cells = append(campaign.Campaign.Cells, result.Cell{Name: "s-" + value, Values: []string{value}})
			campaign.Campaign.Runs = append(campaign.Campaign.Runs, result.CampaignRun{Cell: i, Status: result.Valid})
		}
		spec := drawn(t, "cells", Input{Campaign: campaign})
		same(t, fmt.Sprint(c.values), spec.Panels[0].Series[0].X0, c.want)
	}
}

func TestBurstPeaks(t *testing.T) {
	r := showtest.Simulate(t, resulttest.Overload())
	lacking(t, "burst-peaks", of1(r), "bursts (scenario.load.arrival.process: burst)", "run.json")
	lacking(t, "bursts", of1(r), "bursts (scenario.load.arrival.process: burst)", "run.json")
	resulttest.Set(&r.Run.Scenario, "load.arrival", map[string]any{"process": "burst", "length": "2s", "period": "6s"})
	// Bursts begin at 4, 10 and 16 s. The third has no whole pause before the window ends at 20 s.
	for k := range r.Intervals {
		r.Intervals[k].LagRecords = nil
		if s := r.Intervals[k].StartNs / 1e9; s >= 0 {
			r.Intervals[k].LagSamples = []result.LagSample{{AtNs: s * 1e9, Records: 100 + s}}
		}
	}
	spec := drawn(t, "burst-peaks", of1(r))
	same(t, "highest", seriesOf(t, spec, "highest of a burst", "lag_records").Y, []float64{109, 115})
	same(t, "lowest", seriesOf(t, spec, "lowest between two", "lag_records").Y, []float64{106, 112})
	same(t, "median of the highest", seriesOf(t, spec, "median of the highest", "lag_records").Y, []float64{112})
	burst := drawn(t, "bursts", of1(r))
	seriesOf(t, burst, "overload", "scheduled")
	seriesOf(t, burst, "overload", "lag_records")
}

func TestRecordSize(t *testing.T) {
	sizes := map[string]float64{"100B": 100, "1kB": 1000, "100kB": 100_000}
	names := []string{"100B", "1kB", "100kB"}
	runs := repeats(t, 3, names, func(name string, r *result.Run) {
		resulttest.Set(&r.Scenario, "load.record.size", name)
		r.Load.Bytes = r.Load.Acked * int64(sizes[name])
	})
	spec := drawn(t, "record-size", of1(runs...))
	var at, records, inBytes []float64
	for i, r := range runs {
		at = append(at, sizes[names[i/3]])
		records = append(records, r.Run.Load.AckedPerS)
		inBytes = append(inBytes, r.Run.Load.AckedPerS*float64(r.Run.Load.Bytes)/float64(r.Run.Load.Acked))
	}
	for figure, want := range map[string][]float64{"throughput_per_s": records, "throughput_bytes_per_s": inBytes} {
		dots := seriesOf(t, spec, "runs", figure)
		same(t, "sizes", dots.X0, at)
		same(t, figure, dots.Y, want)
		_, median, _ := bounds(want[:3])
		same(t, "median of "+figure, seriesOf(t, spec, "median", figure).Y[:1], []float64{median})
	}
	lacking(t, "record-size", of1(runs[:3]...), "two sizes in scenario.load.record.size", "run.json")
}

func engines(t *testing.T) []*result.Recorded {
	names := []string{"1x1-plain", "1x1-markers", "4x25-plain", "4x25-markers", "2x5-plain", "2x5-markers"}
	runs := repeats(t, 3, names, func(string, *result.Run) {})
	for i, r := range runs {
		var nodes, threads int
		var engine string
		if _, err := fmt.Sscanf(names[i/3], "%dx%d-%s", &nodes, &threads, &engine); err != nil {
			t.Fatal(err)
		}
		q := showtest.TakesFrom(r, engine, float64(1000*nodes*threads+i), map[string]any{"threads": threads})
		q.Nodes, q.Threads = nodes, threads
		resulttest.Set(&r.Run.Scenario, "consume.consumers", nodes)
	}
	return runs
}

func TestSpeedUp(t *testing.T) {
	runs := engines(t)
	spec := drawn(t, "speed-up", of1(runs...))
	if got := spec.X.Categories; !slices.Equal(got, []string{"1 × 1", "2 × 5", "4 × 25"}) {
		t.Errorf("shapes %q", got)
	}
	same(t, "ideal", spec.Panels[0].Series[0].Y, []float64{1, 10, 100})
	perS := func(first int) (values []float64) {
		for _, r := range runs[first : first+3] {
			values = append(values, r.Run.Queue.AckedPerS)
		}
		return values
	}
	_, base, _ := bounds(perS(3))
	s := seriesOf(t, spec, "markers", "queue_acked_per_s")
	for i, first := range []int{3, 9, 15} {
		low, median, high := bounds(perS(first))
		same(t, "speed-up", []float64{s.Low[i], s.Y[i], s.High[i]}, []float64{low / base, median / base, high / base})
	}
	if s.X0[1] <= s.X0[2] {
		t.Errorf("4 × 25 stands at %v, and 2 × 5 at %v", s.X0[1], s.X0[2])
	}
	// A line without a valid run of the smallest shape is not compared with another shape.
	runs[0].Run.Verdict.Status = result.Invalid
	spec = drawn(t, "speed-up", of1(append(runs[3:], runs[0])...))
	if n := len(spec.Panels[0].Series); n != 2 ||
		!slices.Contains(spec.Notes, "Not drawn: plain has no valid run of the smallest, 1 × 1.") {
		t.Errorf("%d series are drawn, with the notes %q", n, spec.Notes)
	}
	lacking(t, "speed-up", of1(runs[:6]...), "two numbers in scenario.consume.consumers", "run.json")
}

func TestThreads(t *testing.T) {
	runs := engines(t)
	spec := drawn(t, "threads", of1(runs...))
	var want []float64
	for _, i := range []int{3, 4, 5, 9, 10, 11, 15, 16, 17} {
		want = append(want, float64(runs[i].Run.Time["e2e_response_time"].P99Ns))
	}
	same(t, "p99", seriesOf(t, spec, "runs of markers", "e2e_response_time_p99").Y, want)
	for _, p := range spec.Panels {
		for i := 0; i < len(p.Series); i += 2 {
			if dots, medians := p.Series[i], p.Series[i+1]; dots.With != medians.Name {
				t.Errorf("%s has the mark of %q, want that of %s", dots.Name, dots.With, medians.Name)
			}
		}
	}
	// A shape without times would be an empty column.
	for _, i := range []int{6, 7, 8, 9, 10, 11} { // 4 × 25
		delete(runs[i].Run.Time, "e2e_response_time")
	}
	spec = drawn(t, "threads", of1(runs...))
	if got := spec.X.Categories; !slices.Equal(got, []string{"1 × 1", "2 × 5"}) || !slices.Contains(spec.Notes, "Not drawn: the runs of 4 × 25 have no e2e response time.") {
		t.Errorf("shapes %q, notes %q", got, spec.Notes)
	}
	consumers := repeats(t, 1, []string{"1", "3"}, func(name string, r *result.Run) {
		resulttest.Set(&r.Scenario, "consume.consumers", name)
		resulttest.Set(&r.Scenario, "topic.partitions", name) // it makes no second line
	})
	lacking(t, "threads", of1(consumers...), "queue", "run.json")
	same(t, "speed-up by consumers", drawn(t, "speed-up", of1(consumers...)).Panels[0].Series[1].Y,
		[]float64{1, consumers[1].Run.Load.AckedPerS / consumers[0].Run.Load.AckedPerS})
}

func TestStored(t *testing.T) {
	r := showtest.Simulate(t, resulttest.Baseline())
	r.Run.Fill = &result.Fill{Bytes: 1_000_000}
	spec := drawn(t, "stored", of1(r))
	s := seriesOf(t, spec, "baseline", "acked")
	size := float64(r.Run.Load.Bytes) / float64(r.Run.Load.Acked)
	total := 1e6
	var xs, ys []float64
	for _, i := range r.Intervals {
		bytes := float64(i.Acked) * size
		if i.StartNs >= 0 && i.EndNs <= 20e9 {
			xs, ys = append(xs, total+bytes/2), append(ys, bytes/(float64(i.EndNs-i.StartNs)/1e9))
		}
		total += bytes
	}
	same(t, "stored", s.X0, xs)
	same(t, "throughput", s.Y, ys)
	if line := seriesOf(t, spec, "baseline, least squares", ""); len(line.X0) != 2 || len(spec.Notes) != 1 {
		t.Errorf("the line is %+v, and the notes %q", line, spec.Notes)
	}
}

func TestDrain(t *testing.T) {
	r := showtest.Simulate(t, resulttest.Overload())
	lacking(t, "drain", of1(r), "fill", "run.json")
	r.Run.Fill = &result.Fill{Records: 1000}
	var want []float64
	for _, i := range r.Intervals {
		want = append(want, float64(i.BacklogRecords))
	}
	same(t, "records left", seriesOf(t, drawn(t, "drain", of1(r)), "overload", "backlog_records").Y, want)
}

func TestSearch(t *testing.T) {
	campaign := &result.RecordedCampaign{}
	campaign.Campaign.Campaign.Name = "search-it"
	in := Input{Campaign: campaign}
	lacking(t, "search", in, "search.probes", "campaign.json")
	campaign.Campaign.Search = &result.Search{Answer: "300/s.", Probes: []result.Probe{
		{Phase: "capacity", OfferedPerS: 500, Passed: true},
		{Phase: "bisect", OfferedPerS: 400},
		{Phase: "bisect", OfferedPerS: 300, Passed: true},
		{Phase: "bisect", OfferedPerS: 350, Stalled: true},
		{Phase: "confirm", OfferedPerS: 310, TooFew: true},
	}}
	lacking(t, "capacity", in, "search.highest_per_s", "campaign.json")
	campaign.Campaign.Search.HighestPerS = new(300.0)
	lacking(t, "capacity", in, "search.probes of phase curve", "campaign.json")
	spec := drawn(t, "search", in)
	for name, want := range map[string][2]float64{
		"closed loop": {0, 500}, "failed": {1, 400}, "passed": {2, 300}, "stalled": {3, 350}, "too few records": {4, 310}} {
		s := seriesOf(t, spec, name, "offered_per_s")
		same(t, name, []float64{s.X0[0], s.Y[0]}, want[:])
	}
	same(t, "highest", seriesOf(t, spec, "highest that holds", "highest_per_s").Y, []float64{300, 300})

	campaign.Campaign.Search.Probes = append(campaign.Campaign.Search.Probes,
		result.Probe{Phase: "confirm", OfferedPerS: 300, ResponseP50Ns: new(int64(20)), ResponseP99Ns: new(int64(60)),
			Passed: true},
		result.Probe{Phase: "curve", OfferedPerS: 330, ResponseP99Ns: new(int64(900))},
		result.Probe{Phase: "curve", OfferedPerS: 150, ResponseP50Ns: new(int64(10)), ResponseP99Ns: new(int64(40)),
			Passed: true})
	spec = drawn(t, "capacity", in)
	p99 := seriesOf(t, spec, "p99", "response_p99_ns")
	same(t, "share of the highest rate", p99.X0, []float64{0.5, 1, 330.0 / 300})
	same(t, "p99", p99.Y, []float64{40, 60, 900})
	same(t, "p50", seriesOf(t, spec, "p50", "response_p50_ns").Y, []float64{10, 20, math.NaN()})
	same(t, "did not pass", seriesOf(t, spec, "did not pass", "response_p99_ns").Y, []float64{900})
}

func TestFound(t *testing.T) {
	p99, err := figure.Named("e2e_response_time_p99")
	if err != nil {
		t.Fatal(err)
	}
	acked, err := figure.Named("acked_per_s")
	if err != nil {
		t.Fatal(err)
	}
	spec := drawn(t, "differences", Input{Differences: &Differences{Base: "A", Sets: []DifferenceSet{
		{"B", []Difference{{p99, 0.2, 0.1, 0.3, "worse"}, {acked, math.NaN(), math.NaN(), math.NaN(), "too few runs"}}},
		{"C", []Difference{{p99, -0.1, -0.2, 0, "better"}}},
	}}})
	b := seriesOf(t, spec, "B", "difference_ratio")
	same(t, "difference with its bounds", []float64{b.Low[0], b.X0[0], b.High[0]}, []float64{0.1, 0.2, 0.3})
	if got := spec.Panels[0].Y.Categories; !slices.Equal(got, []string{p99.Title}) || len(spec.Notes) != 1 {
		t.Errorf("rows %q, notes %q", got, spec.Notes)
	}
	spec = drawn(t, "history", Input{History: &History{Runs: []string{"1", "2", "3", "4"}, Series: []HistorySeries{
		{p99, []float64{10, math.NaN(), 20, 22}, []LevelChange{{2, 10, 21, "worse"}}}}}})
	same(t, "values", seriesOf(t, spec, "run", p99.Name).Y, []float64{10, math.NaN(), 20, 22})
	level := seriesOf(t, spec, "level", p99.Name)
	same(t, "levels", level.Y, []float64{10, 21})
	same(t, "ends of levels", level.X1, []float64{1.5, 3.5})
}

// The typical run of a cell is the one with the median p99, including lower bounds.
func TestTypicalRuns(t *testing.T) {
	runs := repeats(t, 3, []string{"a", "b", "c"}, func(string, *result.Run) {})
	campaign := &result.RecordedCampaign{Runs: runs}
	campaign.Campaign.Cells = []result.Cell{{Name: "a"}, {Name: "b"}, {Name: "c"}}
	for i := range runs {
		campaign.Campaign.Runs = append(campaign.Campaign.Runs, result.CampaignRun{Cell: i / 3, Status: result.Valid})
	}
	runs[3].Intervals, runs[4].Intervals = nil, nil
	slices.SortFunc(runs[:3], func(a, b *result.Recorded) int {
		return int(a.Run.Time["e2e_response_time"].P99Ns - b.Run.Time["e2e_response_time"].P99Ns)
	})
	runs[1].Intervals[0].Acked = 12345
	runs[5].Intervals[0].Acked = 54321
	for _, r := range runs[7:] {
		of := r.Run.Time["e2e_response_time"]
		of.AtLeast = []string{"p99_ns"}
		r.Run.Time["e2e_response_time"] = of
	}
	runs[7].Intervals[0].Acked = 99999
	spec := drawn(t, "timeline", Input{Campaign: campaign})
	for name, want := range map[string]float64{"a": 12345, "b": 54321, "c": 99999} {
		if got := seriesOf(t, spec, name, "acked").Y[0]; got != want {
			t.Errorf("cell %s draws the run that began with %v/s, expected %v/s", name, got, want)
		}
	}
}

func TestLineNamesHaveNoKeys(t *testing.T) {
	runs := engines(t)
	for i, r := range runs {
		resulttest.Set(&r.Run.Scenario, "topic.partitions", []int{16, 64}[i%2])
		resulttest.Set(&r.Run.Scenario, "consume.queue.start_first", i%4 == 1)
		if i%4 == 2 {
			resulttest.Set(&r.Run.Scenario, "consume.cpu", 0.5)
		}
	}
	var names []string
	for _, s := range drawn(t, "threads", of1(runs...)).Panels[0].Series {
		if s.With == "" {
			names = append(names, s.Name)
		}
	}
	all := strings.Join(names, "; ")
	for _, key := range []string{"unset", "start_first", "cpu", "true", "false"} {
		if strings.Contains(all, key) {
			t.Errorf("a line is named by the key %s: %s", key, all)
		}
	}
	for _, words := range []string{"64 partitions", "start markers first", "0.5 cores", "all cores"} {
		if !strings.Contains(all, words) {
			t.Errorf("no line is named %s: %s", words, all)
		}
	}
}
