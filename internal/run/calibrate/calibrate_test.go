package calibrate

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"kafkabench.example/kafka-bench/internal/kafka/driver/franz"
	"kafkabench.example/kafka-bench/internal/kafka/probe"
	"kafkabench.example/kafka-bench/internal/plan/payload"
	"kafkabench.example/kafka-bench/internal/project/virtual"
	"kafkabench.example/kafka-bench/internal/result"
)

func made(rates map[int]float64) *Calibration {
	c := &Calibration{
		SchemaVersion: SchemaVersion, MadeAt: time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC), HostName: hostName(),
		Host: result.Host{OS: "linux", Arch: "amd64", CPUModel: "a processor", CPUs: 2},
	}
	for bytes, perS := range rates {
		o := Offer{RecordBytes: bytes, Pacer: "frugal", LatenessP99Ns: 1_200_000}
		if perS > 0 {
			o.HighestPerS = &perS
		}
		c.Offers = append(c.Offers, o)
	}
	return c
}

// Of 4,000/s the search tries 95, 85, 70, 55 and 40 %, and then bisects twice. The cluster takes
// 98.4 % of the last rate, 2,031/s, which holds.
func TestHighest(t *testing.T) {
	virtual.Test(t, virtual.Options{ProducePerSecond: 2000}, func(t *testing.T, c *virtual.Cluster) {
		m := &measurer{
			cfg:     Config{Plan: Plan{Halvings: 2, Warmup: 100 * time.Millisecond, Measure: time.Second}, Driver: franz.New()},
			cluster: c, out: t.TempDir(), held: make(map[string]int), probes: probe.Unknown(),
		}
		o := Offer{RecordBytes: payload.StampSize, Pacer: "frugal", ClosedLoopPerS: 4000}
		if err := m.highest(t.Context(), &o); err != nil {
			t.Fatal(err)
		}
		if o.HighestPerS == nil || *o.HighestPerS != 2031 || o.FailedPerS == nil || *o.FailedPerS != 2200 || o.LatenessP99Ns != 0 {
			t.Errorf("%s", mustJSON(t, o))
		}
		if left, _ := os.ReadDir(m.out); len(left) > 0 {
			t.Errorf("%v is left behind", left)
		}
	})
}

func mustJSON(t *testing.T, v any) []byte {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestInterrupted(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	ctx, cancel := context.WithCancel(context.Background())
	_, err := Measure(ctx, Config{Plan: Full(), Driver: franz.New(), Progress: func(string) { cancel() }})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v", err)
	}
	if left, _ := os.ReadDir(os.Getenv("TMPDIR")); len(left) > 0 {
		t.Errorf("%v was left behind", left)
	}
}

func TestHighestPerS(t *testing.T) {
	c := made(map[int]float64{100: 200_000, 1000: 100_000, 5000: 0, 10_000: 20_000})
	for bytes, want := range map[float64]float64{
		1: 200_000, 100: 200_000, // the record is the cost
		550:    1 / (0.5/200_000 + 0.5/100_000), // half way in time, not in rate
		1000:   100_000,
		10_000: 20_000,
		40_000: 5_000, // the bytes are the cost
	} {
		if got, known := c.HighestPerS(bytes); !known || math.Abs(got/want-1) > 1e-9 {
			t.Errorf("of %v B: %v, %v; want %v", bytes, got, known, want)
		}
	}
	for _, bytes := range []float64{0, -1, math.NaN()} {
		if got, known := c.HighestPerS(bytes); known {
			t.Errorf("of %v B: %v", bytes, got)
		}
	}
	if got, known := made(map[int]float64{100: 0}).HighestPerS(100); known {
		t.Errorf("nothing held, and it says %v", got)
	}
}

func TestHighestPerSFalls(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		fast := rapid.Float64Range(1e4, 1e6).Draw(t, "fast")
		slow := rapid.Float64Range(1e3, 1e4).Draw(t, "slow")
		c := made(map[int]float64{100: fast, 10_000: slow})
		a := rapid.Float64Range(1, 1e5).Draw(t, "a")
		b := rapid.Float64Range(a, 1e5).Draw(t, "b")
		ofA, _ := c.HighestPerS(a)
		ofB, _ := c.HighestPerS(b)
		if ofB > ofA*(1+1e-9) || ofA > fast*(1+1e-9) {
			t.Errorf("%v of %v B, %v of %v B", ofA, a, ofB, b)
		}
	})
}

func TestQuote(t *testing.T) {
	c := made(map[int]float64{512: 100_000})
	run := func(change func(*result.Run)) *result.Run {
		r := &result.Run{
			Run:  result.Info{Host: c.Host},
			Load: result.Load{OfferedPerS: 100_001, Acked: 10, Bytes: 5120},
		}
		r.Run.Host.MemoryBytes = 1
		change(r)
		return r
	}
	warning, above := c.Quote(run(func(*result.Run) {}))
	if want := "100,001/s were offered, but this machine can only offer 100,000/s of such records (512 B each; calibrated on 2026-11-21): above that the times may be the tool's own"; !above || warning != want {
		t.Errorf("%q, %v; want %q", warning, above, want)
	}
	for name, change := range map[string]func(*result.Run){
		"at it":           func(r *result.Run) { r.Load.OfferedPerS = 100_000 },
		"smaller records": func(r *result.Run) { r.Load.OfferedPerS, r.Load.Bytes = 99_999, 100 },
		"closed loop":     func(r *result.Run) { r.Load.ClosedLoop = true },
		"nothing acked":   func(r *result.Run) { r.Load.Acked = 0 },
		"another machine": func(r *result.Run) { r.Run.Host.CPUs = 4 },
	} {
		if warning, above := c.Quote(run(change)); above || c.Caveats(run(change)) != nil {
			t.Errorf("%s: %q", name, warning)
		}
	}
	if got := c.Caveats(run(func(*result.Run) {})); len(got) != 1 || got[0] != warning {
		t.Errorf("Caveats() = %q", got)
	}
	if got := (*Calibration)(nil).Caveats(run(func(*result.Run) {})); got != nil {
		t.Errorf("no calibration has the caveats %q", got)
	}
}

func TestStore(t *testing.T) {
	dir := t.TempDir() + "/kafka-bench"
	if _, err := Load(dir); !errors.Is(err, ErrNone) {
		t.Errorf("err = %v", err)
	}
	want := made(map[int]float64{100: 5})
	file, err := want.Save(dir)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := Load(dir); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	for text, wanted := range map[string]string{
		"{":                      "cannot be read",
		`{"schema_version": 2}`:  "has the schema_version 2, and this kafka-bench reads 1",
		`{"schema_version": -1}`: "has the schema_version -1",
	} {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(dir); err == nil || !strings.Contains(err.Error(), wanted) || !strings.Contains(err.Error(), "kafka-bench calibrate") {
			t.Errorf("of %s: %v", text, err)
		}
	}
	// A newer version of the same schema may have more fields.
	text, err := json.Marshal(map[string]any{"schema_version": 1, "host_name": hostName(), "new": true})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, text, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(dir); err != nil {
		t.Error(err)
	}
}

func TestSentence(t *testing.T) {
	for want, c := range map[string]*Calibration{
		"This machine can offer up to 200,000/s of 100B records, and 20,000/s of 10KiB; of 100 records, 99 are then sent at most 1.20 ms late.": made(map[int]float64{100: 200_000, 10_240: 20_000}),
		"This machine can offer up to 7.00/s of 1KiB records; of 100 records, 99 are then sent at most 1.20 ms late.":                           made(map[int]float64{1024: 7}),
		"No open loop held on this machine: do not trust any rate that it offers.":                                                              made(nil),
	} {
		if got := c.Sentence(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}
