package report

import (
	"fmt"
	"slices"
	"strings"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/show/layout"
)

func printFilled(p *layout.Page, r *result.Run) {
	f := r.Fill
	if f == nil {
		return
	}
	p.Labelled("filled before", layout.List(unit.Things(f.Records, "record"), unit.Bytes(f.Bytes),
		"in "+unit.Seconds(f.TimeS), unit.PerSecond(f.AckedPerS)))
	printFillers(p, f.Producers)
	printBounded(p, "fill", f.BoundedBytes, f.BoundedRecords, r,
		"topic.fill", "topic.fill_records", "topic.fill_records_each")
	if missing := f.Failed + f.Unknown; missing > 0 {
		p.Styled(layout.Yellow, "", fmt.Sprintf("%s failed, and the fate of %s is unknown", unit.Count(f.Failed),
			unit.Count(f.Unknown)))
	}
}

func printFillers(p *layout.Page, all []result.FillProducer) {
	if len(all) < 2 {
		return
	}
	var rates, times []float64
	for _, f := range all {
		times = append(times, f.TimeS)
		if f.AckedPerS != nil {
			rates = append(rates, *f.AckedPerS)
		}
	}
	if len(rates) == 0 {
		return
	}
	p.Labelled("by each of", layout.List(unit.Things(int64(len(all)), "producer"),
		unit.PerSecond(slices.Min(rates))+" to "+unit.PerSecond(slices.Max(rates)),
		"in "+unit.Seconds(slices.Min(times))+" to "+unit.Seconds(slices.Max(times))))
}

// printBounded prints how much was stored if the disk was too small. keys are the settings that may
// have asked for more.
func printBounded(p *layout.Page, label string, bytes, records int64, r *result.Run, keys ...string) {
	var asked string
	for _, key := range keys {
		if value := r.Scenario.Get(key); value != "" {
			asked = value
			if strings.HasSuffix(key, "_each") {
				asked += " each"
			}
		}
	}
	stored := unit.Bytes(bytes)
	if records > 0 {
		stored = unit.Things(records, "record")
	}
	if bytes > 0 || records > 0 {
		p.Labelled(label, fmt.Sprintf("%s and not %s: the disk had no room for more", stored, asked))
	}
}

// printReadFill is for a fill that the run only reads.
func printReadFill(p *layout.Page, r *result.Run) {
	d := r.Delivery
	if r.Fill == nil || !d.Checked {
		return
	}
	printEquations(p, []equation{{"filled", copies(r) * r.Fill.Records, []term{
		{d.Unique - d.UnackedDelivered, "delivered"}, {d.Pending, "pending"}, {d.Lost, "lost"},
		{d.Corrupt - d.CorruptUnplaced, "corrupt"},
	}}})
	printOddities(p, r.Load, d)
}

const offsetsShown = 12

func printOffsets(p *layout.Page, l result.Lag) {
	behind := slices.DeleteFunc(slices.Clone(l.FinalPartitions),
		func(o result.PartitionOffsets) bool { return o.Lag == 0 })
	shown := l.FinalPartitions
	switch {
	case len(shown) == 0:
		return
	case len(shown) > offsetsShown && len(behind) == 0:
		p.Labelled("offsets", fmt.Sprintf("committed up to the end in all %d partitions", len(shown)))
		return
	case len(shown) > offsetsShown:
		shown = behind[:min(len(behind), offsetsShown)]
	}
	var parts []string
	for _, o := range shown {
		text := fmt.Sprintf("%d: %s", o.Partition, unit.Count(o.Committed))
		if o.Lag > 0 {
			text += fmt.Sprintf(" of %s, %s behind", unit.Count(o.End), unit.Count(o.Lag))
		}
		parts = append(parts, text)
	}
	if left := len(behind) - len(shown); left > 0 {
		parts = append(parts, fmt.Sprintf("and %d partitions more that are behind", left))
	}
	p.Labelled("committed", layout.List(parts...))
}
