// Package latencytest checks histogram logs against HdrHistogram's own tools.
package latencytest

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/measure/latency"
)

// CheckJava fails the test unless Java's HistogramLogProcessor agrees with ReadLog for every tag in count, p50,
// p90, p99 and maximum. It returns these figures by tag.
func CheckJava(t testing.TB, jar, log string) map[string]latency.Summary {
	t.Helper()
	ours, err := SummariseLog(log)
	if err != nil {
		t.Fatal(err)
	}
	if len(ours) == 0 {
		t.Fatalf("%s: no histogram to compare", log)
	}
	for tag, our := range ours {
		our.MeanNs = 0
		ours[tag] = our
		java, err := ProcessLog(t.Context(), jar, log, tag)
		switch {
		case err != nil:
			t.Error(err)
		case java != our:
			t.Errorf("%s: tag %s: HistogramLogProcessor reads %+v, ReadLog reads %+v", log, tag, java, our)
		}
	}
	return ours
}

// SummariseLog adds up the intervals of each tag of a log.
func SummariseLog(log string) (map[string]latency.Summary, error) {
	file, err := os.Open(log)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	totals := map[string]*latency.Histogram{}
	for entry, err := range latency.ReadLog(file) {
		if err != nil {
			return nil, err
		}
		if totals[entry.Tag] == nil {
			totals[entry.Tag] = latency.NewHistogram()
		}
		totals[entry.Tag].Merge(entry.Histogram)
	}
	summaries := map[string]latency.Summary{}
	for tag, total := range totals {
		summaries[tag] = total.Summary()
	}
	return summaries, nil
}

// ProcessLog runs HistogramLogProcessor on the lines of one tag and returns its figures over all intervals. It needs
// java in PATH.
func ProcessLog(ctx context.Context, jar, log, tag string) (latency.Summary, error) {
	dir, err := os.MkdirTemp("", "hlog-")
	if err != nil {
		return latency.Summary{}, err
	}
	defer os.RemoveAll(dir)
	// With -o the processor writes intervals to the file, and the distribution to file.hgrm. A ratio of 1 keeps
	// nanoseconds.
	out := filepath.Join(dir, "out")
	java := exec.CommandContext(ctx, "java", "-cp", jar, "org.HdrHistogram.HistogramLogProcessor",
		"-v", "-csv", "-i", log, "-tag", tag, "-outputValueUnitRatio", "1", "-o", out)
	printed, err := java.CombinedOutput()
	if err != nil {
		return latency.Summary{}, fmt.Errorf("HistogramLogProcessor: tag %s: %w: %s", tag, err, printed)
	}
	if len(printed) > 0 { // it prints errors there and exits with 0
		return latency.Summary{}, fmt.Errorf("HistogramLogProcessor: tag %s: %s", tag, printed)
	}
	file, err := os.Open(out)
	if err != nil {
		return latency.Summary{}, err
	}
	defer file.Close()
	summary, err := lastTotals(file)
	if err != nil {
		return latency.Summary{}, fmt.Errorf("HistogramLogProcessor: tag %s: %w", tag, err)
	}
	return summary, nil
}

func lastTotals(r io.Reader) (latency.Summary, error) {
	table := csv.NewReader(r)
	table.Comment = '#'
	rows, err := table.ReadAll()
	if err != nil {
		return latency.Summary{}, err
	}
	if len(rows) < 2 {
		return latency.Summary{}, fmt.Errorf("no interval in its output")
	}
	last := map[string]int64{}
	for i, column := range rows[0] {
		value, err := strconv.ParseFloat(strings.TrimSpace(rows[len(rows)-1][i]), 64)
		if err != nil {
			return latency.Summary{}, fmt.Errorf("column %s: %w", column, err)
		}
		last[column] = int64(value)
	}
	return latency.Summary{
		Count: last["Total_Count"],
		P50Ns: last["Total_50%"],
		P90Ns: last["Total_90%"],
		P99Ns: last["Total_99%"],
		MaxNs: last["Total_Max"],
	}, nil
}

// WriteSample writes a log with a warm-up before time zero, values at and beyond both ends of the range, intervals
// without a metric, and a gap between two intervals.
func WriteSample(w io.Writer) error {
	recorder := latency.NewRecorder(latency.SendDelay, latency.E2EResponseTime, latency.PollTime)
	var collector latency.Collector
	collector.Add(recorder)
	log := latency.NewLogWriter(w, time.Date(2024, 2, 29, 23, 59, 59, 999_999_999, time.UTC))
	random := rand.New(rand.NewPCG(1, 2))

	for second := -3; second < 10; second++ {
		measured := second >= 0
		if second == 5 {
			continue
		}
		recorder.Lock()
		for range 1000 + random.IntN(1000) {
			recorder.Record(measured, latency.SendDelay, random.Int64N(3000))
			recorder.Record(measured, latency.E2EResponseTime, int64(math.Exp(random.NormFloat64()*2)*1e6))
		}
		if second == 2 {
			recorder.RecordN(measured, latency.PollTime, -1, 3)
			recorder.RecordN(measured, latency.PollTime, 0, 2)
			recorder.Record(measured, latency.PollTime, latency.HighestNs)
			recorder.Record(measured, latency.PollTime, math.MaxInt64)
		}
		recorder.Unlock()
		start := time.Duration(second)*time.Second + 123_456_789
		if err := log.WriteInterval(start, start+time.Second, collector.Collect()); err != nil {
			return err
		}
	}
	return nil
}
