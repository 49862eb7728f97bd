package latencytest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kafkabench.example/kafka-bench/internal/measure/latency"
)

// HistogramLogProcessor 2.2.2 printed the table.
func TestLastTotals(t *testing.T) {
	const table = `#[Interval percentile log between 0.000 and <Infinite> seconds (relative to StartTime)]
#[StartTime: 1795292239.094 (seconds since epoch), Sat Nov 21 20:17:19 UTC 2026]
"Timestamp","Int_Count","Int_50%","Int_90%","Int_Max","Total_Count","Total_50%","Total_90%","Total_99%","Total_99.9%","Total_99.99%","Total_Max"
3.999,1076,529.000,906.000,999.000,1076,529.000,906.000,986.000,998.000,999.000,999.000
4.999,1047,521.000,894.000,999.000,2123,525.000,898.000,990.000,999.000,999.000,3601330077695.000
`
	got, err := lastTotals(strings.NewReader(table))
	if err != nil {
		t.Fatal(err)
	}
	if want := (latency.Summary{Count: 2123, P50Ns: 525, P90Ns: 898, P99Ns: 990, MaxNs: 3601330077695}); got != want {
		t.Errorf("lastTotals = %+v, want %+v", got, want)
	}
}

func TestLastTotalsWithoutInterval(t *testing.T) {
	const table = "#[Interval percentile log]\n\"Timestamp\",\"Int_Count\"\n"
	if got, err := lastTotals(strings.NewReader(table)); err == nil {
		t.Errorf("lastTotals = %+v, want an error: no interval matched the tag", got)
	}
}

func TestSampleLog(t *testing.T) {
	log := filepath.Join(t.TempDir(), "sample.hlog")
	file, err := os.Create(log)
	if err != nil {
		t.Fatal(err)
	}
	if err := WriteSample(file); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	summaries, err := SummariseLog(log)
	if err != nil {
		t.Fatal(err)
	}
	for _, tag := range []string{"warmup_send_delay", "send_delay", "warmup_e2e_response_time", "e2e_response_time"} {
		if summaries[tag].Count < 3000 {
			t.Errorf("tag %s: %d values, want at least 3000", tag, summaries[tag].Count)
		}
	}
	if got := summaries["poll_time"].Count; got != 7 {
		t.Errorf("tag poll_time: %d values, want 7", got)
	}
}
