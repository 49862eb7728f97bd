package figure

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"kafkabench.example/kafka-bench/internal/result"
)

func TestParseExpectation(t *testing.T) {
	for text, want := range map[string]struct {
		bound   float64
		written string // "" if it is text itself
	}{
		"e2e_response_time_p99 <= 50ms":       {50e6, ""},
		"  e2e_response_time_p99<=0.05s ":     {50e6, "e2e_response_time_p99 <= 50ms"},
		"time_lag_peak < 1m":                  {60e9, ""},
		"drain_time <= 1500ms":                {1.5e9, "drain_time <= 1.5s"},
		"acked_per_s >= 10k/s":                {10_000, ""},
		"acked_per_s > 600/min":               {10, "acked_per_s > 10/s"},
		"backlog_growth <= 0":                 {0, ""},
		"backlog_growth <= -0.5k/s":           {-500, "backlog_growth <= -500/s"},
		"failed = 0":                          {0, ""},
		"lag_peak <= 20000":                   {20_000, ""},
		"lag_peak <= 20k":                     {20_000, "lag_peak <= 20000"},
		"gc_cycles <= +12":                    {12, "gc_cycles <= 12"},
		"acked_ratio >= 0.999":                {0.999, ""},
		"acked_ratio >= 99.9%":                {0.999, "acked_ratio >= 0.999"},
		"rss_peak <= 512MiB":                  {512 << 20, ""},
		"acked_bytes_per_s >= 5MB/s":          {5e6, ""},
		"cpu_cores <= 1.50":                   {1.5, "cpu_cores <= 1.5"},
		"acked_bytes_per_s>=0":                {0, "acked_bytes_per_s >= 0"},
		"lag_peak_of_max_lag <= 1":            {1, ""},
		"e2e_response_time_stddev <= 1h0m0s":  {3600e9, "e2e_response_time_stddev <= 1h"},
		"e2e_service_time_p99_99 <= -1ms":     {-1e6, ""},
		"host_cpu_busy_ratio <= 00000.80":     {0.8, "host_cpu_busy_ratio <= 0.8"},
		"e2e_response_time_p99_9   <   50ms ": {50e6, "e2e_response_time_p99_9 < 50ms"},

		"acked_per_s >= 9k/s in every 10s":               {9000, ""},
		" e2e_response_time_max<=50ms in every   60s":    {50e6, "e2e_response_time_max <= 50ms in every 1m"},
		"e2e_service_time_p90 <= 5ms in every 1s":        {5e6, ""},
		"lag_peak < 100 in every 1m30s":                  {100, ""},
		"queue_in_flight_peak <= 1000 in every 1h":       {1000, ""},
		"delivered_bytes_per_s >= 5MB/s in every 1500ms": {5e6, "delivered_bytes_per_s >= 5MB/s in every 1.5s"},
	} {
		e, err := ParseExpectation(text)
		if err != nil {
			t.Error(err)
			continue
		}
		if want.written == "" {
			want.written = text
		}
		if e.Bound != want.bound || e.String() != want.written {
			t.Errorf("%q is read as %s with the bound %v, want %s and %v", text, e, e.Bound, want.written, want.bound)
		}
	}
}

func TestParseExpectationSaysWhatWouldBeRight(t *testing.T) {
	const form = "write a figure, one of <= >= < > =, and a bound, as in e2e_response_time_p99 <= 50ms"
	for text, want := range map[string]string{
		"":                                form,
		"e2e_response_time_p99":           form,
		"e2e_response_time_p99 50ms":      form,
		"e2e_response_time_p99 == 50ms":   form,
		"e2e_response_time_p99 =< 50ms":   form,
		"e2e_response_time_p99 <=":        "there is no bound; write 50ms",
		"<= 50ms":                         `figure "": `,
		"e2e_respons_time_p99 <= 50ms":    "did you mean e2e_response_time_p99?",
		"backlog growth <= 0":             "did you mean backlog_growth?",
		"time_lag_peak <= 1":              `duration "1": it has no unit; write 1s or 1ms`,
		"acked_per_s >= 10,000":           `rate "10,000": a number has no separators; write 10000/s`,
		"acked_per_s >= max":              "max is no bound",
		"failed <= 1.5":                   `"1.5" is not a whole number; write a whole number, as in 12`,
		"acked_ratio >= 1e-3":             `"1e-3" is not a number; write 0.999 or 99.9%`,
		"acked_ratio >= 99,9%":            `"99,9%" is not a number`,
		"acked_ratio >= .5":               `".5" is not a number`,
		"cpu_cores <= 50%":                `"50%" is not a number; write 1.25`,
		"cpu_cores <= NaN":                `"NaN" is not a number`,
		"cpu_cores <= 0x10":               `"0x10" is not a number`,
		"cpu_cores <= 1/3":                `"1/3" is not a number`,
		"rss_peak <= 80KB":                "write 80kB (1,000 bytes each) or 80KiB",
		"acked_bytes_per_s >= 5MB":        `"5MB" does not say per what; write 5MB/s`,
		"e2e_response_time_p99 <= 50":     `duration "50": it has no unit; write 50s or 50ms`,
		"acked_ratio >= 0.9 and lost = 0": `"0.9 and lost = 0" is not a number`,

		"acked_per_s >= 9k/s in every 10":           `duration "10": it has no unit; write 10s or 10ms`,
		"acked_per_s >= 9k/s in every 0s":           "in every 0s: give 100ms to 24h, as in 10s",
		"acked_ratio >= 0.9 in every 10s":           "in every 10s: intervals do not have acked_ratio; they have acked, acked_bytes_per_s,",
		"e2e_response_time_p99_9 < 5ms in every 1s": "and of each time p50, p90, p99 and max",
	} {
		e, err := ParseExpectation(text)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), fmt.Sprintf("expectation %q: ", text)) {
			t.Errorf("%q: %v, %v, want %q", text, e, err, want)
		}
	}
}

func TestCheck(t *testing.T) {
	still := func(r *result.Run) { *r.Lag.BacklogGrowthPerS = 39 }
	apart := func(r *result.Run) {
		d := r.Time["e2e_response_time"]
		d.ErrorNs = 2e6
		r.Time["e2e_response_time"] = d
	}
	above := func(r *result.Run) {
		d := r.Time["e2e_response_time"]
		d.AtLeast = []string{"p99_ns"}
		r.Time["e2e_response_time"] = d
	}
	const more = "e2e_response_time_p99 is more than 36.0 ms, for too many records had not ended; expected "
	for _, c := range []struct {
		expect string
		change func(*result.Run)
		want   string
		text   string
	}{
		{"e2e_response_time_p99 <= 50ms", nil, Met, "e2e_response_time_p99 is 36.0 ms, expected <= 50ms"},
		{"e2e_response_time_p99 <= 36ms", nil, Met, "e2e_response_time_p99 is 36.0 ms, expected <= 36ms"},
		{"e2e_response_time_p99 < 36ms", nil, Failed, "e2e_response_time_p99 is 36.0 ms, expected < 36ms"},
		{"e2e_response_time_p99 <= 35.99ms", nil, Failed, "e2e_response_time_p99 is 36000000 ns, expected <= 35.99ms"},
		{"e2e_response_time_p99 > 36ms", nil, Failed, "e2e_response_time_p99 is 36.0 ms, expected > 36ms"},
		{"e2e_response_time_p99 >= 36ms", nil, Met, "e2e_response_time_p99 is 36.0 ms, expected >= 36ms"},
		{"e2e_response_time_p99 <= 38ms", apart, Met, "e2e_response_time_p99 is 36.0 ms ± 2.00 ms, expected <= 38ms"},
		{"e2e_response_time_p99 < 38ms", apart, Failed, "e2e_response_time_p99 is 36.0 ms ± 2.00 ms, expected < 38ms"},
		{"e2e_response_time_p99 >= 34ms", apart, Met, "e2e_response_time_p99 is 36.0 ms ± 2.00 ms, expected >= 34ms"},
		{"e2e_response_time_p99 > 34ms", apart, Failed, "e2e_response_time_p99 is 36.0 ms ± 2.00 ms, expected > 34ms"},
		{"e2e_response_time_p99 = 36ms", apart, Failed, "e2e_response_time_p99 is 36.0 ms ± 2.00 ms, expected = 36ms"},
		{"e2e_response_time_p99 <= 50ms", above, Undecided, more + "<= 50ms"},
		{"e2e_response_time_p99 <= 36ms", above, Undecided, more + "<= 36ms"},
		{"e2e_response_time_p99 < 36ms", above, Failed, more + "< 36ms"},
		{"e2e_response_time_p99 <= 35ms", above, Failed, more + "<= 35ms"},
		{"e2e_response_time_p99 = 35ms", above, Failed, more + "= 35ms"},
		{"e2e_response_time_p99 = 50ms", above, Undecided, more + "= 50ms"},
		{"e2e_response_time_p99 >= 36ms", above, Met, more + ">= 36ms"},
		{"e2e_response_time_p99 > 36ms", above, Undecided, more + "> 36ms"},
		{"acked_ratio >= 0.98501", nil, Failed, "acked_ratio is 0.985, expected >= 0.98501"},
		{"lost = 5", nil, Met, "lost is 5, expected = 5"},
		{"lost = 4", nil, Failed, "lost is 5, expected = 4"},
		{"backlog_growth <= 0", nil, Failed, "backlog_growth is 350/s ± 40.0/s, expected <= 0"},
		{"backlog_growth <= 0", still, Met, "backlog_growth is 39.0/s ± 40.0/s, expected <= 0"},
		{"backlog_growth >= 310/s", nil, Met, "backlog_growth is 350/s ± 40.0/s, expected >= 310/s"},
		{"backlog_growth >= 391/s", nil, Failed, "backlog_growth is 350/s ± 40.0/s, expected >= 391/s"},
		{"backlog_growth = 320/s", nil, Met, "backlog_growth is 350/s ± 40.0/s, expected = 320/s"},
		{
			"e2e_response_time_p99 <= 50ms", func(r *result.Run) { r.Time["e2e_response_time"] = result.Time{Count: 999} }, Undecided,
			"e2e_response_time_p99 is not known: 999 records are too few for p99; expected <= 50ms",
		},
		{
			"backlog_growth <= 0", func(r *result.Run) { r.Lag.BacklogGrowthPerS = nil }, Undecided,
			"backlog_growth is not known: it was not measured; expected <= 0",
		},
		{
			"lag_peak <= 20000", func(r *result.Run) { r.Lag.PeakRecords = nil }, Undecided,
			"lag_peak is not known: it was not measured; expected <= 20000",
		},
	} {
		e, err := ParseExpectation(c.expect)
		if err != nil {
			t.Fatal(err)
		}
		r := run()
		if c.change != nil {
			c.change(r)
		}
		got := e.Check(r, nil)
		if got.Outcome != c.want || got.Text != c.text || got.Expected != c.expect {
			t.Errorf("%s: %+v, want %s, %q", c.expect, got, c.want, c.text)
		}
		if v, known := e.Figure.Value(r); known != (got.Value != nil) || known && *got.Value != v {
			t.Errorf("%s: the value is %v, want %v", c.expect, got.Value, v)
		}
	}
}

func TestParseRegression(t *testing.T) {
	for text, want := range map[string]struct {
		ratio   float64
		written string
	}{
		"e2e_response_time_p99 worse by 10%":      {0.1, ""},
		" acked_per_s   worse by  2.5% ":          {0.025, "acked_per_s worse by 2.5%"},
		"failed worse by 0%":                      {0, ""},
		"e2e_response_time_p99 worse by 0.1%":     {0.001, ""},
		"e2e_response_time_p99 worse by 7%":       {0.07, ""},
		"e2e_response_time_p99 worse by 250%":     {2.5, ""},
		"e2e_response_time_p99 worse by 33.3333%": {0.333333, ""},
	} {
		r, err := ParseRegression(text)
		if err != nil {
			t.Error(err)
			continue
		}
		if want.written == "" {
			want.written = text
		}
		if r.Ratio != want.ratio || r.String() != want.written {
			t.Errorf("%q is read as %s with the ratio %v, want %s and %v", text, r, r.Ratio, want.written, want.ratio)
		}
	}
	for text, want := range map[string]string{
		"":                                     "write a figure and by how much it may not be worse",
		"e2e_response_time_p99 > 10%":          "write a figure and by how much it may not be worse",
		"offered_per_s worse by 10%":           "neither more nor less of offered_per_s is worse",
		"e2e_respons_time_p99 worse by 10%":    "did you mean e2e_response_time_p99?",
		"e2e_response_time_p99 worse by 10":    `"10" is not in per cent; write worse by 10%`,
		"e2e_response_time_p99 worse by 5ms":   `"5ms" is not in per cent; write worse by 10%`,
		"e2e_response_time_p99 worse by -5%":   `"-5%" is less than nothing; write worse by 5%`,
		"e2e_response_time_p99 worse by ten%":  `"ten%" is not a number of per cent`,
		"e2e_response_time_p99 worse by 10%%":  `"10%%" is not a number of per cent`,
		"e2e_response_time_p99 worse by 1e99%": `"1e99%" is not a number of per cent`,
	} {
		r, err := ParseRegression(text)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), fmt.Sprintf("condition %q: ", text)) {
			t.Errorf("%q: %v, %v, want %q", text, r, err, want)
		}
	}
}

func TestExceeded(t *testing.T) {
	for _, c := range []struct {
		condition  string
		difference float64
		want       bool
	}{
		{"e2e_response_time_p99 worse by 10%", 0.1, true},
		{"e2e_response_time_p99 worse by 10%", 0.0999, false},
		{"e2e_response_time_p99 worse by 10%", -0.5, false},
		{"acked_per_s worse by 10%", -0.1, true},
		{"acked_per_s worse by 10%", 0.5, false},
		{"failed worse by 0%", 0, false},
		{"failed worse by 0%", 0.001, true},
		{"failed worse by 10%", math.Inf(1), true},
		{"failed worse by 10%", math.NaN(), false},
	} {
		r, err := ParseRegression(c.condition)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Exceeded(c.difference); got != c.want {
			t.Errorf("%s by %v: %t", c.condition, c.difference, got)
		}
	}
}

// A parsed expectation prints so that it parses again, and Check never panics.
func FuzzParseExpectation(f *testing.F) {
	for _, text := range []string{
		"e2e_response_time_p99 <= 50ms", "backlog_growth <= -1/7s", "acked_ratio >= 99.9%", "failed=0", "rss_peak < 1.5KiB",
		"acked_bytes_per_s >= 5MB/s", "drain_time <= 1h30m", "cpu_cores > 0.30000000000000000001", "lag_peak <= -0",
		"acked_per_s >= 9k/s in every 10s", "e2e_response_time_p99 < 1ms in every 24h", "lag_peak < 7 in every 1m1.1s",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		e, err := ParseExpectation(text)
		if err != nil {
			return
		}
		again, err := ParseExpectation(e.String())
		if err != nil || again.String() != e.String() || again.Bound != e.Bound || again.Operator != e.Operator || again.Figure.Name != e.Figure.Name || again.Every != e.Every {
			t.Fatalf("%q is read as %s (%v), which reads %s (%v), %v", text, e, e.Bound, again, again.Bound, err)
		}
		r, intervals := series()
		if got := e.Check(r, intervals); !strings.HasPrefix(got.Text, e.Figure.Name+" is ") {
			t.Fatalf("%q: %s", text, got.Text)
		}
	})
}

func FuzzParseRegression(f *testing.F) {
	for _, text := range []string{"e2e_response_time_p99 worse by 10%", "failed worse by 0%", "acked_per_s worse by 33.333333333333333%"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := ParseRegression(text)
		if err != nil {
			return
		}
		again, err := ParseRegression(r.String())
		if err != nil || again.Ratio != r.Ratio || again.Figure.Name != r.Figure.Name || r.Ratio < 0 {
			t.Fatalf("%q is read as %s (%v), which reads %v, %v", text, r, r.Ratio, again.Ratio, err)
		}
	})
}
