package foreign_test

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"pgregory.net/rapid"

	"kafkabench.example/kafka-bench/internal/measure/latency"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/foreign"
)

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

// merged returns a log as "report --hlog-merge" writes it, of two runs that began ten seconds
// apart.
func merged(t *testing.T) []byte {
	t.Helper()
	h := latency.NewHistogram()
	h.RecordN(5_000_000, 1000)
	var log bytes.Buffer
	w := latency.NewLogWriter(&log, time.Unix(1_800_000_000, 0))
	for _, line := range []struct {
		start, end time.Duration
		tag        string
	}{
		{-2 * time.Second, 0, "slow-consumer-j4oszh_warmup_send_service_time"},
		{0, 5 * time.Second, "slow-consumer-j4oszh_send_service_time"},
		{0, 5 * time.Second, "slow-consumer-j4oszh_pacer_lateness"},
		{8 * time.Second, 10 * time.Second, "quick-k3x7qa_warmup_send_service_time"},
		{10 * time.Second, 15 * time.Second, "quick-k3x7qa_send_service_time"},
		{10 * time.Second, 15 * time.Second, "quick-k3x7qa_disk_io"},
	} {
		if err := w.Write(line.start, line.end, line.tag, h); err != nil {
			t.Fatal(err)
		}
	}
	return log.Bytes()
}

func TestMergedLog(t *testing.T) {
	all, err := foreign.ParseAll("all.hlog", merged(t), foreign.Options{})
	if err != nil || len(all) != 2 {
		t.Fatalf("%d runs, %v", len(all), err)
	}
	for i, want := range []struct {
		name, times, warning string
		started              time.Time
	}{
		{"slow-consumer", "pacer_lateness send_service_time", "it is of the run slow-consumer-j4oszh of kafka-bench", time.Unix(1_800_000_000, 0)},
		{"quick", "disk_io send_service_time", "the tag disk_io is none of our metrics", time.Unix(1_800_000_010, 0)},
	} {
		run := all[i].Run
		if run.Run.Name != want.name || !run.Run.StartedAt.Equal(want.started) {
			t.Errorf("%s started at %v, want %s at %v", run.Run.Name, run.Run.StartedAt, want.name, want.started)
		}
		if got := strings.Join(slices.Sorted(maps.Keys(run.Time)), " "); got != want.times || run.Time["send_service_time"].Count != 1000 {
			t.Errorf("%s has the times %s, want %s", want.name, got, want.times)
		}
		if w := strings.Join(run.Verdict.Warnings, "\n"); !strings.Contains(w, want.warning) || len(run.Verdict.Warnings) > 4 {
			t.Errorf("warnings of %s:\n%s", want.name, w)
		}
		if p := run.Run.Phases; len(p) != 2 || p[0].StartNs != -2e9 || p[1].EndNs != 5e9 {
			t.Errorf("phases of %s: %+v", want.name, p)
		}
	}
}

// Lines that belong to no run make one more run.
func TestMergedLogIsNamed(t *testing.T) {
	log := merged(t)
	alone := bytes.Join(slices.Collect(func(yield func([]byte) bool) {
		for line := range bytes.Lines(log) {
			if !bytes.Contains(line, []byte("=quick-")) && !yield(bytes.TrimSuffix(line, []byte("\n"))) {
				return
			}
		}
	}), []byte("\n"))
	foreignLine := "Tag=rebalance,1.0,1.0,1.0," + hdr(t, 1, 1000, 1, 5) + "\n"
	for _, c := range []struct {
		log  string
		want string
	}{
		{string(alone), "hl"},
		{string(log), "hl-slow-consumer hl-quick"},
		{string(log) + foreignLine, "hl-slow-consumer hl-quick hl-all"},
	} {
		all, err := foreign.ParseAll("all.hlog", []byte(c.log), foreign.Options{Name: "hl"})
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, r := range all {
			names = append(names, r.Run.Run.Name)
		}
		if got := strings.Join(names, " "); got != c.want {
			t.Errorf("names %s, want %s", got, c.want)
		}
	}
	if _, err := foreign.Parse("all.hlog", log, foreign.Options{}); err == nil || err.Error() != "all.hlog: it holds 2 runs, and one is wanted" {
		t.Errorf("one of several: %v", err)
	}
	_, err := foreign.ParseAll("all.hlog", append([]byte("\nTag=quick-k3x7qa_poll_time,1.0,1.0\n"), log...), foreign.Options{})
	if want := "all.hlog:2: "; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("a fault is at its line of the file: %v, want %s…", err, want)
	}
}

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
	got, want := again[0].Run.Time["send_service_time"], r.Run.Time["send_service_time"]
	// The log keeps only the minimum's bucket.
	if got.MinNs = want.MinNs; !reflect.DeepEqual(got, want) || got.Count != 2 {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// older encodes a histogram as HdrHistogram did before version 2.1.7: counts of a fixed size, in V0
// with an older header.
func older(t *testing.T, version, size int, values ...int64) string {
	t.Helper()
	h := hdrhistogram.New(1, 3_600_000, 3)
	for _, v := range values {
		if err := h.RecordValue(v); err != nil {
			t.Fatal(err)
		}
	}
	be := binary.BigEndian
	var payload []byte
	for _, n := range h.Export().Counts {
		word := be.AppendUint64(nil, uint64(n))
		payload = append(payload, word[8-size:]...)
	}
	payload = payload[:size*(len(payload)/size/2)] // Java leaves out the last zeros
	cookies := map[int][2]uint32{0: {0x1c849309, 0x1c849308}, 1: {0x1c849302, 0x1c849301}}[version]
	plain := be.AppendUint32(nil, cookies[1]|uint32(size)<<4)
	if version == 0 {
		plain = be.AppendUint64(be.AppendUint64(be.AppendUint64(be.AppendUint32(plain, 3), 1), 3_600_000), uint64(len(values)))
	} else {
		plain = be.AppendUint32(be.AppendUint32(be.AppendUint32(plain, uint32(len(payload))), 0), 3)
		plain = be.AppendUint64(be.AppendUint64(be.AppendUint64(plain, 1), 3_600_000), math.Float64bits(1))
	}
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	if _, err := z.Write(append(plain, payload...)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	head := be.AppendUint32(be.AppendUint32(nil, cookies[0]|uint32(size)<<4), uint32(packed.Len()))
	text := base64.StdEncoding.EncodeToString(append(head, packed.Bytes()...))
	if version == 0 {
		text = strings.TrimRight(text, "=") // as jHiccup 2.0.1 did
	}
	return text
}

func TestHdrLogOfOlderEncodings(t *testing.T) {
	for _, c := range []struct{ version, size int }{{0, 8}, {1, 2}, {1, 4}, {1, 8}} {
		log := "#[Histogram log format version 1.1]\nTag=ack latency,0.1,1.0,0.3," + older(t, c.version, c.size, 100, 200, 300) + "\n"
		r, err := foreign.Parse("x", []byte(log), foreign.Options{HlogUnit: time.Microsecond})
		if err != nil {
			t.Fatal(err)
		}
		got := r.Run.Time["send_service_time"]
		if got.Count != 3 || got.MinNs != 100_000 || got.P50Ns != 200_063 && got.P50Ns != 200_000 || got.MaxNs < 300_000 || got.MaxNs > 300_300 {
			t.Errorf("V%d with %d bytes a count: %+v", c.version, c.size, got)
		}
		if _, err := r.Save(t.TempDir()); err != nil {
			t.Error(err)
		}
	}
}

// Base time is what the times of the lines are added to, whatever the start time.
func TestHdrLogBaseTime(t *testing.T) {
	line := "5.000,1.000,1.0," + hdr(t, 1, 1000, 3, 5) + "\n"
	for header, want := range map[string]time.Time{
		"#[BaseTime: 1800000000.250 (seconds since epoch)]\n":                                                        time.UnixMilli(1_800_000_005_250),
		"#[BaseTime: 1800000000.250 (seconds since epoch)]\n#[StartTime: 1800000005.500 (seconds since epoch), x]\n": time.UnixMilli(1_800_000_005_250),
		"#[StartTime: 1800000005.500 (seconds since epoch), x]\n#[BaseTime: 1800000000.250 (seconds since epoch)]\n": time.UnixMilli(1_800_000_005_250),
		"#[StartTime: 1800000000.500 (seconds since epoch), x]\n":                                                    time.UnixMilli(1_800_000_005_500),
	} {
		r, err := foreign.Parse("x", []byte(header+line), foreign.Options{Format: foreign.HdrLog})
		if err != nil || !r.Run.Run.StartedAt.Equal(want) || !r.Run.Says("run.started_at") {
			t.Errorf("%s: it started at %v, want %v; %v", header, r.Run.Run.StartedAt, want, err)
		}
	}
}

// A tool that was killed leaves half a line. What is whole is taken.
func TestHdrLogWithACutLine(t *testing.T) {
	whole := "0.0,1.0,1.0," + hdr(t, 1, 1000, 3, 5) + "\n1.0,1.0,1.0," + hdr(t, 1, 1000, 3, 6) + "\n"
	next := "2.0,1.0,1.0," + hdr(t, 1, 1000, 3, 7)
	for end := 1; end < len(next); end++ {
		r, err := foreign.Parse("x", []byte(whole+next[:end]), foreign.Options{Format: foreign.HdrLog})
		if err != nil {
			t.Fatalf("%d bytes of the last line: %v", end, err)
		}
		w := strings.Join(r.Run.Verdict.Warnings, "\n")
		if r.Run.Time["x"].Count != 2 || !strings.Contains(w, "its last line, 3, is cut and left out") {
			t.Fatalf("%d bytes of the last line: %+v\n%s", end, r.Run.Time, w)
		}
	}
	for _, log := range []string{next[:20], "0.0," + next[4:20] + "\n" + whole} {
		if _, err := foreign.Parse("x", []byte(log), foreign.Options{Format: foreign.HdrLog}); err == nil || !strings.HasPrefix(err.Error(), "x:1: ") {
			t.Errorf("a cut line that is the only or not the last: %v", err)
		}
	}
}
