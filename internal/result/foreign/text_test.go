package foreign_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf16"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/foreign"
)

func content(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

var inMilliseconds = foreign.Options{HlogUnit: time.Millisecond, Modified: time.Unix(1_800_000_000, 0)}

func parseAll(t *testing.T, name string, text []byte) []*foreign.Result {
	t.Helper()
	all, err := foreign.ParseAll(name, text, inMilliseconds)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func utf16Of(order binary.AppendByteOrder, mark, text string) (b []byte) {
	for _, u := range utf16.Encode([]rune(mark + text)) {
		b = order.AppendUint16(b, u)
	}
	return b
}

func eachLine(text []byte, change func(string) string) []byte {
	var all strings.Builder
	for line := range strings.Lines(string(text)) {
		all.WriteString(change(strings.TrimSuffix(line, "\n")) + "\n")
	}
	return []byte(all.String())
}

func isText(name string) bool { return filepath.Ext(name) != ".json" }

// A file says the same however an editor saved it, or a terminal or a chat showed it.
func TestEncodings(t *testing.T) {
	for name := range samples {
		text := content(t, name)
		variants := map[string][]byte{
			"UTF-8 with a mark": append([]byte("\ufeff"), text...),
			"UTF-16LE":          utf16Of(binary.LittleEndian, "\ufeff", string(text)),
			"UTF-16BE":          utf16Of(binary.BigEndian, "\ufeff", string(text)),
			"CRLF":              bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n")),
			"coloured": eachLine(text, func(line string) string {
				return "\x1b[1;32m" + line + "\x1b[0m\x1b[K"
			}),
		}
		if isText(name) {
			variants["quoted"] = eachLine(text, func(line string) string { return "> > " + line })
			variants["in a table"] = eachLine(text, func(line string) string { return "\t| " + line + " |" })
		}
		want := parseAll(t, name, text)[0]
		for variant, text := range variants {
			got := parseAll(t, name, text)
			if len(got) != 1 || !reflect.DeepEqual(got[0].Run, want.Run) || !reflect.DeepEqual(got[0].Intervals, want.Intervals) {
				t.Errorf("%s, %s: it is another run: %+v", name, variant, got[0].Run)
			}
		}
		_, err := foreign.ParseAll(name, utf16Of(binary.LittleEndian, "", string(text)), inMilliseconds)
		if err == nil || !strings.HasPrefix(err.Error(), name+":1: there is a NUL byte") || !strings.Contains(err.Error(), "save the file as UTF-8") {
			t.Errorf("%s, UTF-16 without a mark: %v", name, err)
		}
	}
}

// The pasted files have the figures of the others, with prefixes and decimal commas.
func TestPastedOutput(t *testing.T) {
	for pasted, plain := range map[string]string{"producer-pasted.txt": "producer-3.txt", "consumer-pasted.txt": "consumer-4.txt"} {
		got, want := read(t, pasted, foreign.Options{}), read(t, plain, foreign.Options{})
		if !reflect.DeepEqual(got.Run.Time, want.Run.Time) || !reflect.DeepEqual(got.Run.Load.Acked, want.Run.Load.Acked) ||
			!reflect.DeepEqual(got.Run.Delivery, want.Run.Delivery) || !reflect.DeepEqual(got.Intervals, want.Intervals) {
			t.Errorf("%s is %+v, want %+v", pasted, got.Run, want.Run)
		}
	}
}

// Outputs of a tool that follow one another are a run each, with the figures of a file of their own.
func TestSeveralOutputsInOneFile(t *testing.T) {
	logs := map[string][]byte{
		"send_service_time.hlog": content(t, "send_service_time.hlog"),
		"jHiccup.hlog": []byte("#[Logged with jHiccup version 2.0.6]\n#[Histogram log format version 1.1]\n#[StartTime: 1800000000.5 (seconds since epoch), x]\n" +
			"0.1,1.0,2.8," + hdr(t, 1, 1000, 3, 5, 6) + "\n"),
	}
	for name := range samples {
		if isText(name) {
			logs[name] = content(t, name)
		}
	}
	for name, text := range logs {
		alone := parseAll(t, name, text)[0]
		all := parseAll(t, name, append(slices.Clone(text), text...))
		if len(all) != 2 {
			t.Errorf("%s: %d runs, want 2", name, len(all))
			continue
		}
		stem := strings.TrimSuffix(name, filepath.Ext(name))
		for i, r := range all {
			if want := fmt.Sprintf("%s-%d", stem, i+1); r.Run.Run.Name != want {
				t.Errorf("%s: the name is %s, want %s", name, r.Run.Run.Name, want)
			}
			if !slices.Equal(countsOf(r), countsOf(alone)) || !reflect.DeepEqual(r.Intervals, alone.Intervals) || r.Run.Verdict.Status != alone.Run.Verdict.Status {
				t.Errorf("%s: run %d has other figures than the output by itself: %+v", name, i+1, r.Run)
			}
		}
	}
}

func countsOf(r *foreign.Result) (all []int64) {
	all = []int64{r.Run.Load.Acked, r.Run.Load.Failed, r.Run.Delivery.Delivered}
	for _, metric := range slices.Sorted(maps.Keys(r.Run.Time)) {
		time := r.Run.Time[metric]
		all = append(all, time.Count, time.P50Ns, time.P99Ns, time.MaxNs)
	}
	return all
}

// A number is JSON, so the text after it is not the fault.
func TestTextIsNoJSON(t *testing.T) {
	for _, format := range []foreign.Format{foreign.OMB, foreign.SSP} {
		_, err := foreign.ParseAll("x", content(t, "producer-3.txt"), foreign.Options{Format: format})
		if want := "x:1: it is not JSON: a result begins with {"; err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", format, err, want)
		}
	}
}

// Where the outputs cannot be told apart, or one would be lost, the error says the line and what to
// do.
func TestMixedOutputsAreRefused(t *testing.T) {
	producer, consumer := string(content(t, "producer-3.txt")), string(content(t, "consumer-4.txt"))
	lines := strings.SplitAfter(producer, "\n")
	entry := func(start string) string { return "Tag=a," + start + ",1.0,1.0," + hdr(t, 1, 1000, 3, 5) + "\n" }
	for _, c := range []struct{ name, text, want string }{
		{"parallel producers", lines[1] + lines[1] + lines[2] + lines[2] + lines[3] + lines[3],
			"x:3: up to here the lines have 149,932 records and a maximum of 12 ms, and the totals of line 5 have 100,000 and 215 ms: they are of several outputs; give each a file of its own"},
		{"a killed producer", "900 records sent, 180.0 records/sec (0.10 MB/sec), 1.9 ms avg latency, 300.0 ms max latency.\n" + producer,
			"x:1: up to here the lines have 900 records and a maximum of 300 ms, and the totals of line 5 have 100,000 and 215 ms: they are of several outputs; give each a file of its own"},
		{"two tools", producer + consumer, "x:5: here begins a result of consumer-perf after one of producer-perf; give each a file of its own"},
		{"two rows of totals", consumer + strings.SplitAfter(consumer, "\n")[1], "x:3: there is a second row of totals; give each run a file of its own"},
		{"two logs without headers", entry("5.0") + entry("6.0") + entry("5.0") + entry("6.0"),
			"x:3: the time goes back from 6s to 5s after line 2: these are two logs; give each a file of its own"},
		{"two JSON results", string(content(t, "omb.json")) + string(content(t, "omb.json")), "x:48: a second value follows the JSON of the result; give each result a file of its own"},
		{"the second is cut", producer + lines[1], "x:6: the output ends without its line of totals (… ms 50th, … ms 99.9th.): the tool did not come to its end"},
		{"a number changed", strings.Replace(consumer, "80000", "90000", 1), "x:2: 90000 records in 1.841s are 48,886/s, and the row says 43,455/s: it is cut, or a number was changed"},
		{"progress falls", "1000\t4.8\n0\t99.5\nAvg latency: 4.6 ms\nPercentiles: 50th = 4, 99th = 12, 99.9th = 49\n",
			"x:2: record 0 comes after record 1000 of line 1: these are several outputs; give each a file of its own"},
		{"a cut table", strings.Join(strings.SplitAfter(string(content(t, "poll_time.hgrm")), "\n")[:8], ""), "x:8: the table ends at the percentile 0.990625 and not at 1: it is cut"},
		{"another total", strings.Replace(string(content(t, "poll_time.hgrm")), "=        10000]", "=        20000]", 1),
			"x:14: it says 20,000 values and a maximum of 14.25, and the last row says 10,000 and 14.25"},
	} {
		_, err := foreign.ParseAll("x", []byte(c.text), inMilliseconds)
		if err == nil || err.Error() != c.want {
			t.Errorf("%s: %v\nwant %s", c.name, err, c.want)
		}
	}
	_, err := foreign.ParseAll("x.hgrm", content(t, "poll_time.hgrm"), foreign.Options{})
	if want := "x.hgrm:1: the table does not say its unit; say it with --hlog-unit ns, us or ms"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// What a foreign file holds must not steer a terminal that shows the run or the error.
func TestControlCharacters(t *testing.T) {
	const evil = "\x1b[2J\x07\u0085\u202e"
	sample := string(content(t, "omb.json"))
	escaped := strings.NewReplacer(`"Kafka"`, `"Kafka\u001b[2J\u0007\u202e\n\b \\u001b"`, "16 partitions", "16"+evil+"partitions").Replace(sample)
	log := "Tag=a" + evil + "b,0.0,1.0,1.0," + hdr(t, 1, 1000, 3, 5) + "\n"
	for name, text := range map[string]string{
		"x.json": escaped, "x" + evil + ".hlog": log,
		"producer.txt": "org.apache.kafka.common.errors.TimeoutException: " + evil + "\n" + string(content(t, "producer-3.txt")),
		"error.txt":    "10" + evil + " records sent, what" + evil + "\n",
		"header.txt":   "start.time, end.time, data.consumed" + evil + "\n",
		"cut.json":     strings.Replace(escaped, "[ 4, 19", "[ 4"+evil, 1),
		"none" + evil:  evil,
	} {
		all, err := foreign.ParseAll(name, []byte(text), inMilliseconds)
		shown := fmt.Sprint(err)
		for _, r := range all {
			settings := maps.Collect(r.Run.Scenario.All())
			encoded, marshalErr := json.Marshal(r.Run)
			if marshalErr != nil {
				t.Fatal(marshalErr)
			}
			var run result.Run
			if err := json.Unmarshal(encoded, &run); err != nil {
				t.Fatal(err)
			}
			run.Scenario = result.Settings{}
			shown += fmt.Sprintf("%+v %v %+v", run, settings, r.Events) + fmt.Sprintf("%+v", *run.Run.Imported)
		}
		at := strings.IndexFunc(shown, func(r rune) bool { return unicode.IsControl(r) && r != '\n' || unicode.Is(unicode.Bidi_Control, r) })
		if at >= 0 {
			t.Errorf("%q holds %q", name, shown[max(at-40, 0):min(at+40, len(shown))])
		}
	}
	all := parseAll(t, "x.json", []byte(escaped))
	if got := all[0].Run.Run.Driver.Name; got != "openmessaging-benchmark Kafka�[2J��     "+`\u001b` {
		t.Errorf("the driver is %q", got)
	}
}

func TestNewFormats(t *testing.T) {
	share := read(t, "share-consumer.txt", foreign.Options{}).Run
	if d := share.Delivery; d.Delivered != 80000 || d.DeliveredPerS != 20000 || d.Bytes != 16_000_011 || share.Consumer.Members != 2 {
		t.Errorf("the share consumers: %+v, %d members", d, share.Consumer.Members)
	}
	if r := read(t, "share-consumer-gave-up.txt", foreign.Options{}).Run; r.Verdict.Status != result.Invalid || r.Says("consumer.members") {
		t.Errorf("the one that gave up: %+v", r.Verdict)
	}
	e2e := read(t, "e2e-2.txt", foreign.Options{}).Run
	want := result.Time{MeanNs: 4_620_200, P50Ns: 4e6, P99Ns: 12e6, P999Ns: 49e6}
	if got := e2e.Time["e2e_service_time"]; !reflect.DeepEqual(got, want) || e2e.Says("time.e2e_service_time.count") || !e2e.Load.ClosedLoop {
		t.Errorf("the end-to-end latency: %+v, want %+v", got, want)
	}
	if w := strings.Join(e2e.Verdict.Warnings, "\n"); !strings.Contains(w, "at least 2,001, by its progress") || strings.Contains(w, "no line end") {
		t.Errorf("warnings:\n%s", w)
	}
	cut := parseAll(t, "x", bytes.TrimSuffix(content(t, "e2e-2.txt"), []byte("9\n")))[0].Run
	if w := strings.Join(cut.Verdict.Warnings, "\n"); !strings.Contains(w, "its last line has no line end") {
		t.Errorf("a cut number without a warning:\n%s", w)
	}
	hgrm := read(t, "poll_time.hgrm", foreign.Options{}).Run
	want = result.Time{Count: 10000, MinNs: 100_000, MeanNs: 1.3e6, StddevNs: 0.9e6, P50Ns: 1_200_000, P75Ns: 1_800_000, P90Ns: 2_500_000,
		P95Ns: 3_100_000, P99Ns: 5_750_000, P995Ns: 7_125_000, P999Ns: 11_000_000, P9999Ns: 14_250_000, MaxNs: 14_250_000}
	if got := hgrm.Time["poll_time"]; !reflect.DeepEqual(got, want) {
		t.Errorf("the table of percentiles: %+v, want %+v", got, want)
	}
	csv := "\"Value\",\"Percentile\",\"TotalCount\",\"1/(1-Percentile)\"\n0.100,0.000000000000,1,1.00\n2.500,0.500000000000,5,2.00\n9.000,1.000000000000,10,Infinity\n"
	r := parseAll(t, "disk.hgrm", []byte(csv))[0].Run
	if got := r.Time["disk"]; got.Count != 10 || got.P50Ns != 2_500_000 || got.MaxNs != 9e6 || r.Says("time.disk.mean_ns") {
		t.Errorf("the CSV: %+v", got)
	}
}

func TestDetectionNamesTheFile(t *testing.T) {
	if _, err := foreign.ParseAll("x", []byte("\ufeff\n"), inMilliseconds); !errors.Is(err, foreign.ErrFormat) || err.Error() != "x: not a result that can be imported: it is empty" {
		t.Error(err)
	}
}
