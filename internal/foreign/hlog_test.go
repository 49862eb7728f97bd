package foreign_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"pgregory.net/rapid"

	"kafka-bench/internal/foreign"
	"kafka-bench/internal/latency"
	"kafka-bench/internal/result"
)

// hdr encodes a histogram as another tool would.
func hdr(t interface{ Fatal(...any) }, low, high int64, digits int, values ...int64) string {
	h := hdrhistogram.New(low, high, digits)
	for _, v := range values {
		if err := h.RecordValue(v); err != nil {
			t.Fatal(err)
		}
	}
	text, err := h.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestHdrLogOfMicroseconds(t *testing.T) {
	log := "#[StartTime: 1800000000.500 (seconds since epoch), x]\n" +
		"\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n" +
		"Tag=send_response-time_100_10000_0,10.000,1.000,1.0," + hdr(t, 1, 3_600_000_000, 3, 100, 200, 300) + "\n" +
		"Tag=end-to-end_service-time,10.000,1.000,1.0," + hdr(t, 1, 3_600_000_000, 2, 1000) + "\n" +
		"Tag=rebalance,11.000,1.000,1.0," + hdr(t, 1, 3_600_000_000, 3, 7) + "\n"
	r, err := foreign.Parse("x.hlog", []byte(log), foreign.Options{HlogUnit: time.Microsecond})
	if err != nil {
		t.Fatal(err)
	}
	got := r.Run.Time["send_response_time"]
	if got.Count != 3 || got.MinNs != 100_000 || got.P50Ns < 200_000 || got.P50Ns > 200_200 || got.MaxNs < 300_000 || got.MaxNs > 300_300 {
		t.Errorf("send response time %+v", got)
	}
	if r.Run.Time["e2e_service_time"].Count != 1 || r.Run.Time["rebalance"].Count != 1 || len(r.Run.Time) != 3 {
		t.Errorf("times %v", r.Run.Time)
	}
	if want := time.UnixMilli(1_800_000_010_500).UTC(); !r.Run.Run.StartedAt.Equal(want) {
		t.Errorf("it started at %v, want %v: the first interval is the axis's zero", r.Run.Run.StartedAt, want)
	}
	if len(r.Intervals) != 2 || r.Intervals[0].StartNs != 0 || r.Intervals[1].StartNs != 1e9 || len(r.Intervals[0].Time) != 2 {
		t.Errorf("intervals %+v", r.Intervals)
	}
	if w := strings.Join(r.Run.Verdict.Warnings, "\n"); !strings.Contains(w, "the tag rebalance is none of our metrics") {
		t.Errorf("warnings:\n%s", w)
	}
}

// TestHdrLogWithoutTag goes by the file's name.
func TestHdrLogWithoutTag(t *testing.T) {
	log := "0.0,1.0,1.0," + hdr(t, 1, 1000, 1, 5) + "\n"
	for name, metric := range map[string]string{
		"out/send_response-time_50_10000_0.hlog": "send_response_time", "poll_service-time.hlog": "poll_time",
		"e2e_response_time.hlog": "e2e_response_time", "Disk I-O.hlog": "disk_i_o", "___.hlog": "untagged", "publish_delay_latency.log": "send_delay",
	} {
		r, err := foreign.Parse(name, []byte(log), foreign.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, there := r.Run.Time[metric]; !there {
			t.Errorf("%s is %v, want %s", name, r.Run.Time, metric)
		}
	}
}

// TestOurOwnLog is read as it was written, warm-up and axis included.
func TestOurOwnLog(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Int64Range(1, latency.HighestNs), 1, 50).Draw(t, "values")
		h, warm := latency.NewHistogram(), latency.NewHistogram()
		for _, v := range values {
			h.Record(v)
		}
		warm.Record(9)
		var log bytes.Buffer
		w := latency.NewLogWriter(&log, time.Unix(1_800_000_000, 0))
		for _, err := range []error{
			w.Write(-2*time.Second, -time.Second, "warmup_send_service_time", warm),
			w.Write(0, time.Second, "send_service_time", h), w.Write(time.Second, 2*time.Second, "send_service_time", h),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
		r, err := foreign.Parse("x", log.Bytes(), foreign.Options{})
		if err != nil {
			t.Fatal(err)
		}
		want := latency.NewHistogram()
		want.Merge(h)
		want.Merge(h)
		d, got := want.Distribution(), r.Run.Time["send_service_time"]
		if got.Count != d.Count || got.P50Ns != d.P50Ns || got.P99Ns != d.P99Ns || got.MaxNs != d.MaxNs || got.MeanNs != d.MeanNs {
			t.Fatalf("%+v, want %+v", got, d)
		}
		if _, mixed := r.Run.Time["warmup_send_service_time"]; mixed || len(r.Intervals) != 3 || r.Intervals[0].StartNs != -2e9 || r.Intervals[0].Phase != "warm-up" {
			t.Fatalf("times %v, intervals %+v", r.Run.Time, r.Intervals)
		}
	})
}

// TestHdrLogIsSaved in nanoseconds, for whoever reads the run's own log.
func TestHdrLogIsSaved(t *testing.T) {
	log := fmt.Sprintf("Tag=ack latency,5.0,1.0,1.0,%s\n", hdr(t, 1, 100_000, 3, 12, 34))
	r, err := foreign.Parse("x", []byte(log), foreign.Options{HlogUnit: time.Millisecond, Format: foreign.HdrLog})
	if err != nil {
		t.Fatal(err)
	}
	dir, err := r.Save(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	again, err := foreign.Read(dir+"/"+result.HistogramsFile, foreign.Options{})
	if err != nil {
		t.Fatal(err)
	}
	got, want := again.Run.Time["send_service_time"], r.Run.Time["send_service_time"]
	if got.MinNs = want.MinNs; got != want || got.Count != 2 { // the format keeps the minimum's slot only
		t.Errorf("%+v, want %+v", got, want)
	}
}
