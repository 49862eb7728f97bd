package answers

import (
	"slices"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/show/analysis"
)

func payloads(d *analysis.Study) Answer {
	columns := []column{
		valued("on the wire, each record", wireBytes), valued("compression", "compression_ratio"),
		valued("tool's CPU, each record", "cpu_per_record"), valued("acked/s", "acked_per_s"),
		valued("e2e response time p50", "e2e_response_time_p50"), valued("p99", analysis.PrimaryName),
	}
	for _, codec := range codecsOf(d) {
		columns = append(columns, column{"ratio with " + codec, func(c *analysis.Cell) string { return ratioWith(c, codec) }})
	}
	table := tabulate(d, append(columns, summed("lost", "lost"))...)
	table.Notes = []string{"The ratios are of one pass of each codec over batches of a run's own records: uncompressed ÷ compressed."}
	return table.says(spreads(d, []said{
		{wireBytes, wireBytesSaid}, {"cpu_per_record", toolCPUSaid},
		{analysis.PrimaryName, "e2e response time p99"},
	})...)
}

func codecsOf(d *analysis.Study) (names []string) {
	for _, cell := range d.Cells {
		for _, r := range cell.Sample.Taken {
			for _, c := range r.Run.Compression {
				if !slices.Contains(names, c.Codec) {
					names = append(names, c.Codec)
				}
			}
		}
	}
	return names
}

func ratioWith(cell *analysis.Cell, codec string) string {
	var ratios []float64
	for _, r := range cell.Sample.Taken {
		for _, c := range r.Run.Compression {
			if c.Codec == codec {
				ratios = append(ratios, c.Ratio)
			}
		}
	}
	if len(ratios) == 0 {
		return unit.Absent
	}
	return unit.Factor(analysis.FromValues(ratios).Summary.Median)
}
