package unit

import (
	"encoding"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestParseRate(t *testing.T) {
	for in, want := range map[string]Rate{
		"500/s":     {500, time.Second},
		"10k/s":     {10_000, time.Second},
		"2.5k/s":    {2500, time.Second},
		"1M/s":      {1_000_000, time.Second},
		"0.0015k/s": {3, 2 * time.Second},
		"100/min":   {5, 3 * time.Second},
		"600k/min":  {10_000, time.Second},
		"36/h":      {1, 100 * time.Second},
		"1/7s":      {1, 7 * time.Second},
		"3/100ms":   {30, time.Second},
		"0/s":       {0, time.Second},
		"0":         {0, time.Second},
		"0.0":       {0, time.Second},
		"max":       MaxRate,
		"-1":        MaxRate,
		"10000":     {10_000, time.Second}, "10k": {10_000, time.Second}, "2.5k": {2500, time.Second}, "10K/s": {10_000, time.Second},
		"10_000/s": {10_000, time.Second}, "5000 msg/s": {5000, time.Second}, "5k records/sec": {5000, time.Second},
		"10k/second": {10_000, time.Second}, "600 / minute": {10, time.Second}, "5000records/s": {5000, time.Second},
	} {
		got, err := ParseRate(in)
		if err != nil || got != want {
			t.Errorf("ParseRate(%q) = %v, %v; want %v", in, got, err, want)
		}
	}
}

func TestParseSize(t *testing.T) {
	for in, want := range map[string]Size{
		"0": 0, "0B": 0, "512B": 512, "64kB": 64_000, "64KiB": 65_536, "1.5KiB": 1536, "2MB": 2_000_000,
		"2MiB": 2 << 20, "1GB": 1_000_000_000, "1GiB": 1 << 30, "1TB": 1e12, "1.5TiB": 3 << 39, "0.001kB": 1, "1.0B": 1,
		"512": 512, "16_384": 16384, "512 bytes": 512, "64 kB": 64_000, "64kib": 65_536, "64Ki": 65_536, "2 GiB": 2 << 30,
	} {
		got, err := ParseSize(in)
		if err != nil || got != want {
			t.Errorf("ParseSize(%q) = %d, %v; want %d", in, got, err, want)
		}
	}
}

func TestParseDuration(t *testing.T) {
	for in, want := range map[string]time.Duration{
		"0": 0, "5ms": 5e6, "1m30s": 90e9, "1.5s": 15e8, "-2s": -2e9, "250µs": 250e3,
		"5min": 300e9, "5 seconds": 5e9, "2d": 48 * 3600e9, "1.5 days": 36 * 3600e9, "5000 MS": 5e9, "5 millis": 5e6, "2 hours": 7200e9,
		"PT1M30S": 90e9, "pt5s": 5e9, "20 usec": 20e3,
	} {
		got, err := ParseDuration(in)
		if err != nil || time.Duration(got) != want {
			t.Errorf("ParseDuration(%q) = %v, %v; want %v", in, got, err, want)
		}
	}
}

func TestParseCount(t *testing.T) {
	for in, want := range map[string]int64{
		"0": 0, "12": 12, "-1": -1, "50M": 50_000_000, "2.5k": 2500, "10K": 10_000, "1_000_000": 1_000_000, "1e6": 1_000_000, "1.5E3": 1500,
		"9223372036854775807": math.MaxInt64,
	} {
		if got, err := ParseCount(in); err != nil || got != want {
			t.Errorf("ParseCount(%q) = %d, %v; want %d", in, got, err, want)
		}
	}
	for in, want := range map[string]string{
		"": "as in 12", "many": "as in 12", "3.5": "as in 12", "1e999": "as in 12", "99999999999999999999": "as in 12", "5m": "as in 12",
		"1,000,000": "without separators: 1000000", "--1": "as in 12", "1 2": "as in 12", ".5k": "as in 12",
	} {
		if got, err := ParseCount(in); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("ParseCount(%q) = %d, %v; want %s", in, got, err, want)
		}
	}
}

func TestParseErrors(t *testing.T) {
	rate := func(s string) error { _, err := ParseRate(s); return err }
	size := func(s string) error { _, err := ParseSize(s); return err }
	duration := func(s string) error { _, err := ParseDuration(s); return err }
	for _, c := range []struct {
		parse func(string) error
		in    string
		want  string
	}{
		{rate, "0x", "unknown multiplier"},
		{rate, "10k/m", "10k/min"},
		{rate, "-5/s", "negative"},
		{rate, "-1/s", "negative"},
		{rate, "5000 apples/s", "unknown multiplier"},
		{rate, "10m", "unknown multiplier"},
		{rate, "_5/s", "write it as"},
		{rate, "5_/s", "write it as"},
		{rate, "", "write it as"},
		{rate, ".5/s", "write it as"},
		{rate, "5./s", "write it as"},
		{rate, "1.2.3/s", "write it as"},
		{rate, "1e3/s", "write 1/s, 1k/s"},
		{rate, "Max", "or max"},
		{rate, "10,000", "write 10000/s"},
		{rate, "5/0s", "unknown period"},
		{rate, "9999999999999999999/s", "too high"},
		{rate, "0.00000000000001/s", "fewer decimals"},
		{size, "64Kb", "64kB (1,000 bytes each) or 64KiB"},
		{size, "64KB", "64kB (1,000 bytes each) or 64KiB"},
		{size, "64k", "64kB (1,000 bytes each) or 64KiB"},
		{size, "1m", "1MB (1,000,000 bytes each) or 1MiB"},
		{size, "1g", "1GB"},
		{size, "2t", "2TB (1,000,000,000,000 bytes each) or 2TiB"},
		{size, "8b", "write 8B"},
		{size, "8XB", "the units are"},
		{size, "-1B", "negative"},
		{size, "", "write it as"},
		{size, "lots", "write it as"},
		{size, "0.3KiB", "not a whole number"},
		{size, "99999999999GiB", "too large"},
		{size, strings.Repeat("9", 50) + "B", "write it as"},
		{duration, "5", "write 5s or 5ms"},
		{duration, "9999999h", "at most 290 years"},
		{duration, "5M", "write 5m"},
		{duration, "5 moons", "write it as"},
		{duration, "300000 days", "at most 290 years"},
		{duration, "0.1 ns", "whole number of nanoseconds"},
		{duration, "soon", "write it as"},
		{duration, "", "write it as"},
	} {
		err := c.parse(c.in)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: error %v does not say %q", c.in, err, c.want)
		}
	}
}

func TestString(t *testing.T) {
	for want, got := range map[string]interface{ String() string }{
		"10k/s":    Rate{10_000, time.Second},
		"2.5k/s":   Rate{2500, time.Second},
		"9924/s":   Rate{9924, time.Second},
		"1M/s":     Rate{1_000_000, time.Second},
		"100/min":  Rate{100, time.Minute},
		"0.01/s":   Rate{1, 100 * time.Second},
		"1/7s":     Rate{1, 7 * time.Second},
		"0/s":      Rate{0, time.Second},
		"0.5/s":    Rate{1, 2 * time.Second},
		"max":      MaxRate,
		"":         Rate{},
		"64KiB":    64 * KiB,
		"64kB":     64 * KB,
		"1500B":    Size(1500),
		"0B":       Size(0),
		"512B":     Size(512),
		"1GiB":     GiB,
		"2TB":      2000 * GB,
		"1TiB":     TiB,
		"1024kB":   1000 * KiB,
		"5ms":      Duration(5e6),
		"1m30s":    Duration(90e9),
		"1m":       Duration(60e9),
		"1h":       Duration(3600e9),
		"1h0m5s":   Duration(3605e9),
		"10m":      Duration(600e9),
		"0s":       Duration(0),
		"-1h30m":   Duration(-5400e9),
		"1h0m0.5s": Duration(36005e8),
	} {
		if got.String() != want {
			t.Errorf("%#v prints %q, want %q", got, got.String(), want)
		}
	}
}

func TestFormat(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Count(0), "0"}, {Count(999), "999"}, {Count(309_435), "309,435"}, {Count(-1234), "-1,234"},
		{Count(-123), "-123"}, {Count(1_234_567), "1,234,567"},
		{Count(-1 << 63), "-9,223,372,036,854,775,808"},
		{Things(1, "commit"), "1 commit"}, {Things(0, "commit"), "0 commits"}, {Things(4000, "commit"), "4,000 commits"},
		{NanosWithin(4_210_000, 0), "4.21 ms"}, {NanosWithin(4_210_000, 130_000), "4.21 ms ± 0.13 ms"},
		{NanosWithin(4_210_000, 130_001), "4.21 ms ± 0.14 ms"}, {NanosWithin(4_210_000, 1), "4.21 ms ± 0.01 ms"},
		{NanosWithin(130_000, 130_000), "–"}, {NanosWithin(-5, 3), "–"}, {NanosWithin(130_001, 130_000), "130 µs ± 130 µs"},
		{NanosWithin(950, 12), "950 ns ± 12 ns"}, {NanosWithin(3_600e9, 5e6), "3,600 s ± 1 s"},
		{Nanos(0), "0 ns"}, {Nanos(950), "950 ns"}, {Nanos(1000), "1.00 µs"}, {Nanos(17_000_000), "17.0 ms"},
		{Nanos(999_499), "999 µs"}, {Nanos(999_500), "1.00 ms"}, {Nanos(-17_000_000), "-17.0 ms"},
		{Nanos(123_456_789_000), "123 s"}, {Nanos(3_600e9), "3,600 s"}, {Nanos(9_996), "10.0 µs"},
		{Nanos(9_995), "9.99 µs"}, // 9.995 is no float64, and the nearest float64 is below it
		{Span(0), "0 ns"}, {Span(500 * time.Millisecond), "500 ms"}, {Span(time.Second), "1 s"}, {Span(10_400 * time.Millisecond), "10.4 s"},
		{Span(36 * time.Second), "36 s"}, {Span(66 * time.Second), "1 min 6 s"}, {Span(time.Hour), "1 h"}, {Span(3605 * time.Second), "1 h 5 s"},
		{Span(59_999 * time.Millisecond), "1 min"}, {Span(1000*time.Hour + 5*time.Minute), "1,000 h 5 min"}, {Span(-90 * time.Second), "-1 min 30 s"},
		{Bytes(512), "512 B"}, {Bytes(78_300_000), "78.3 MB"}, {Bytes(1_000_000_000_000), "1.00 TB"},
		{PerSecond(9924), "9,924/s"}, {PerSecond(0), "0/s"}, {PerSecond(0.5), "0.500/s"}, {PerSecond(12.34), "12.3/s"},
		{PerSecond(99.96), "100/s"}, {PerSecond(1e30), "1e+30/s"},
		{Percent(0.9998), "99.98 %"}, {Percent(1), "100.00 %"}, {Percent(0), "0.00 %"}, {Percent(0.999999), "> 99.99 %"},
		{Percent(1e-9), "< 0.01 %"}, {Percent(1.000001), "100.00 %"}, {Percent(2.5), "250.00 %"}, {Percent(-1e-9), "0.00 %"},
		{Percent(nan()), NotAvailable}, {PerSecond(nan()), NotAvailable},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

func TestRoundTo(t *testing.T) {
	for power, v := range roundTo {
		at, below := strconv.FormatFloat(v, 'e', 2, 64), strconv.FormatFloat(math.Nextafter(v, 0), 'e', 2, 64)
		if at != "1.00e+0"+strconv.Itoa(power) || !strings.HasPrefix(below, "9.99e") {
			t.Errorf("%v is %s, and below it is %s", v, at, below)
		}
	}
}

func nan() float64 { zero := 0.0; return zero / zero }

func TestIsSet(t *testing.T) {
	if !(Rate{}).IsZero() || (Rate{0, time.Second}).IsZero() || MaxRate.IsZero() {
		t.Error("only the zero Rate is not set")
	}
	if !MaxRate.IsMax() || (Rate{1, time.Second}).IsMax() {
		t.Error("only MaxRate is max")
	}
	if got := (Rate{5, 3 * time.Second}).PerSecond(); got != 5.0/3 {
		t.Errorf("5/3s is %v per second", got)
	}
}

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := Size(rapid.Int64Min(0).Draw(t, "size"))
		if got, err := ParseSize(size.String()); err != nil || got != size {
			t.Errorf("size %d prints %s, which reads %d, %v", size, size, got, err)
		}
		d := Duration(rapid.Int64().Draw(t, "duration"))
		if got, err := ParseDuration(d.String()); err != nil || got != d {
			t.Errorf("duration %d prints %s, which reads %d, %v", d, d, got, err)
		}
		records := rapid.Int64Range(0, 1e9).Draw(t, "records")
		seconds := rapid.SampledFrom([]int64{1, 2, 3, 7, 60, 1000, 3600}).Draw(t, "seconds")
		rate := Rate{records, time.Duration(seconds) * time.Second}
		got, err := ParseRate(rate.String())
		if err != nil || got.Records*int64(rate.Per/time.Second) != records*int64(got.Per/time.Second) {
			t.Errorf("rate %#v prints %s, which reads %#v, %v", rate, rate, got, err)
		}
		if again, err := ParseRate(got.String()); err != nil || again != got {
			t.Errorf("rate %#v reads back as %#v, %v", got, again, err)
		}
	})
}

func FuzzParseRate(f *testing.F) {
	for _, s := range []string{"10k/s", "2.5k/s", "100/min", "max", "1/7s", "10000", "0/s"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		rate, err := ParseRate(s)
		if err != nil {
			return
		}
		if rate.IsZero() || rate.Records < 0 && !rate.IsMax() {
			t.Fatalf("%q reads as %#v", s, rate)
		}
		checkRoundTrip(t, &rate, rate)
	})
}

func FuzzParseSize(f *testing.F) {
	for _, s := range []string{"512B", "64KiB", "1.5KiB", "0", "512", "64KB"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		size, err := ParseSize(s)
		if err != nil {
			return
		}
		if size < 0 {
			t.Fatalf("%q reads as %d", s, size)
		}
		checkRoundTrip(t, &size, size)
	})
}

func FuzzParseDuration(f *testing.F) {
	for _, s := range []string{"5ms", "1m30s", "0", "5", "5min", "2d"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if d, err := ParseDuration(s); err == nil {
			checkRoundTrip(t, &d, d)
		}
	})
}

func checkRoundTrip[T interface {
	comparable
	encoding.TextMarshaler
}, P interface {
	*T
	encoding.TextUnmarshaler
}](t *testing.T, v P, want T) {
	text, err := want.MarshalText()
	if err != nil {
		t.Fatal(err)
	}
	var zero T
	*v = zero
	if err := v.UnmarshalText(text); err != nil || *v != want {
		t.Fatalf("%v is written %s, which reads %v, %v", want, text, *v, err)
	}
}
