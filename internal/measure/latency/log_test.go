package latency

import (
	"bytes"
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"pgregory.net/rapid"
)

var base = time.Date(2024, 2, 29, 12, 0, 0, 500_000_000, time.UTC)

// hdrhistogram-go decodes the same histogram.
func TestEncodeIsV2(t *testing.T) {
	var e encoder
	rapid.Check(t, func(t *rapid.T) {
		h, oracle := NewHistogram(), hdrhistogram.New(1, HighestNs, 3)
		for range rapid.IntRange(0, 50).Draw(t, "values") {
			ns, n := inRange().Draw(t, "ns"), rapid.Int64Range(1, 1<<40).Draw(t, "n")
			h.RecordN(ns, n)
			if err := oracle.RecordValues(ns, n); err != nil {
				t.Fatal(err)
			}
		}
		text, err := e.encode(h)
		if err != nil {
			t.Fatal(err)
		}
		decoded, err := hdrhistogram.Decode(text)
		if err != nil {
			t.Fatal(err)
		}
		if !decoded.Equals(oracle) {
			t.Error("hdrhistogram-go decodes another histogram than was encoded")
		}
	})
}

func TestLogRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var file bytes.Buffer
		log := NewLogWriter(&file, base)
		type entry struct {
			start, end time.Duration
			tag        string
			summary    Summary
		}
		var want, got []entry
		at := time.Duration(rapid.Int64Range(-1e12, 1e12).Draw(t, "start"))
		for range rapid.IntRange(0, 5).Draw(t, "intervals") {
			start := at
			at += time.Duration(rapid.Int64Range(0, 1e12).Draw(t, "length"))
			h := histogramOf(rapid.SliceOfN(anywhere(), 0, 50).Draw(t, "values")...)
			tag := Tag(rapid.Bool().Draw(t, "measured"), Metric(rapid.IntRange(0, NumMetrics-1).Draw(t, "metric")))
			if err := log.Write(start, at, tag, h); err != nil {
				t.Fatal(err)
			}
			if h.Count() > 0 {
				want = append(want, entry{start, at, tag, h.Summary()})
			}
		}
		for e, err := range ReadLog(&file) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, entry{e.Start, e.End, e.Tag, e.Histogram.Summary()})
		}
		if len(got) != len(want) {
			t.Fatalf("read %d entries, wrote %d", len(got), len(want))
		}
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("entry %d: read %+v, wrote %+v", i, got[i], want[i])
			}
		}
	})
}

func TestLogText(t *testing.T) {
	var file bytes.Buffer
	log := NewLogWriter(&file, base)
	var collector Collector
	recorder := NewRecorder(SendDelay)
	collector.Add(recorder)
	for second := range 2 {
		recorder.Record(second == 1, SendDelay, 1_500_000)
		start := time.Duration(second-1) * 1500 * time.Millisecond
		if err := log.WriteInterval(start, start+1500*time.Millisecond, collector.Collect()); err != nil {
			t.Fatal(err)
		}
	}
	text := regexp.MustCompile("HISTFAAAA[^\n]*").ReplaceAllString(file.String(), "HIST…")
	const want = `#[Times of a Kafka Bench run in nanoseconds; tags are metrics]
#[Histogram log format version 1.3]
#[StartTime: 1709207999.000 (seconds since epoch), 2024-02-29T11:59:59.000Z]
#[BaseTime: 1709207999.000 (seconds since epoch)]
#[MeasuredStart: 1.500000000 (seconds after StartTime)]
"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"
Tag=warmup_send_delay,0.000000000,1.500000000,1.500,HIST…
Tag=send_delay,1.500000000,1.500000000,1.500,HIST…
`
	if text != want {
		t.Errorf("the log reads\n%s\nwant\n%s", text, want)
	}
}

func TestLogForHdrHistogramGo(t *testing.T) {
	var file bytes.Buffer
	log := NewLogWriter(&file, base)
	h := histogramOf(1, 1000, 1_000_000, 1_000_000_000)
	if err := log.Write(-time.Second, 0, "warmup_send_delay", h); err != nil {
		t.Fatal(err)
	}
	got, err := hdrhistogram.NewHistogramLogReader(&file).NextIntervalHistogram()
	if err != nil {
		t.Fatal(err)
	}
	if got.Tag() != "warmup_send_delay" || got.TotalCount() != 4 || got.Max() != h.Max() {
		t.Errorf("read tag %q, %d values up to %d", got.Tag(), got.TotalCount(), got.Max())
	}
	if start := time.UnixMilli(got.StartTimeMs()); !start.Equal(base.Add(-time.Second)) {
		t.Errorf("the interval starts at %v, want a second before %v", start.UTC(), base)
	}
}

func TestLogWriterRefuses(t *testing.T) {
	h := histogramOf(1)
	for name, test := range map[string]struct {
		start, end time.Duration
		tag        string
		want       string
	}{
		"comma":       {0, 1, "a,b", "no comma"},
		"line break":  {0, 1, "a\nb", "no white space"},
		"no tag":      {0, 1, "", "at least one character"},
		"backwards":   {2, 1, "a", "ends before it starts"},
		"before head": {-1, 1, "a", "before the log's first"},
	} {
		t.Run(name, func(t *testing.T) {
			log := NewLogWriter(&bytes.Buffer{}, base)
			if err := log.Write(0, 1, "first", h); err != nil {
				t.Fatal(err)
			}
			err := log.Write(test.start, test.end, test.tag, h)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one that says %q", err, test.want)
			}
		})
	}
}

var errFull = errors.New("disk full")

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }

func TestLogWriterHandsErrorsOn(t *testing.T) {
	if err := NewLogWriter(fullDisk{}, base).Write(0, 1, "a", histogramOf(1)); !errors.Is(err, errFull) {
		t.Errorf("error %v, want %v", err, errFull)
	}
}

func TestReadLogAfterCrash(t *testing.T) {
	var file bytes.Buffer
	log := NewLogWriter(&file, base)
	for second := range 3 {
		start := time.Duration(second) * time.Second
		if err := log.Write(start, start+time.Second, "a", histogramOf(int64(second)+1)); err != nil {
			t.Fatal(err)
		}
	}
	for cut := range file.Len() + 1 {
		text := file.Bytes()[:cut]
		want := bytes.Count(text, []byte("\n")) - 6
		entries := 0
		for _, err := range ReadLog(bytes.NewReader(text)) {
			if err != nil {
				t.Fatalf("cut after %d bytes: %v", cut, err)
			}
			entries++
		}
		if entries != max(want, 0) {
			t.Fatalf("cut after %d bytes: %d entries, want %d", cut, entries, want)
		}
	}
}

func TestReadLogNamesTheLine(t *testing.T) {
	for _, text := range []string{
		"#\nTag=a,0,1,1,nonsense\n",
		"#\nTag=a,0,1\n",
		"#\nTag=a,zero,1,1,HIST\n",
		"#\n#[MeasuredStart: soon]\n",
	} {
		var last error
		for _, err := range ReadLog(strings.NewReader(text)) {
			last = err
		}
		if last == nil || !strings.Contains(last.Error(), "line 2") {
			t.Errorf("%q: error %v, want one that names line 2", text, last)
		}
	}
}

func TestReadLogRefusesAnotherLayout(t *testing.T) {
	var file bytes.Buffer
	h := hdrhistogram.New(1, 1_000_000, 2)
	if err := h.RecordValue(5); err != nil {
		t.Fatal(err)
	}
	if err := hdrhistogram.NewHistogramLogWriter(&file).OutputIntervalHistogram(h); err != nil {
		t.Fatal(err)
	}
	for _, err := range ReadLog(&file) {
		if err == nil || !strings.Contains(err.Error(), "2 digits") {
			t.Errorf("error %v, want one that says what the layout is", err)
		}
	}
}

func FuzzReadLog(f *testing.F) {
	var file bytes.Buffer
	if err := NewLogWriter(&file, base).Write(-1, 1, "a", histogramOf(1, 5_000_000)); err != nil {
		f.Fatal(err)
	}
	f.Add(file.Bytes())
	f.Add([]byte("Tag=a,0,1,1,\n"))
	f.Add([]byte("#[MeasuredStart: -9e99]\n1,2,3,4\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		for entry, err := range ReadLog(bytes.NewReader(text)) {
			if err == nil && entry.Histogram == nil {
				t.Error("an entry without a histogram and without an error")
			}
		}
	})
}
