package main

import (
	"errors"
	"strings"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/peers"
)

func TestPeersRefuses(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, c := range []struct{ args, want string }{
		{"peers", "peers needs one SCENARIO: a preset's name (kafka-bench list) or a YAML file"},
		{"peers quick --repeat 0", "--repeat 0: give 1 to 1000"},
		{"peers quick --set load.arrival=poisson", "scenario quick: load.arrival is poisson, and kafka-producer-perf-test has a constant rate or none; use constant"},
		{"peers quick --max-rate 100/s", "scenario quick offers up to 5k/s, and the most is 100/s; if that is meant, give --max-rate 5k/s"},
		{"peers quick --max-time 10s", "the runs take at least 1 min 3 s, and the most is 10 s; if that is meant, give --max-time 2m"},
		{"peers quick --max-bytes 1MB", "the runs store up to 161 MB at a time, and the most is 1.00 MB; if that is meant, give --max-bytes 161280000B"},
	} {
		wantBad(t, invoke(t, strings.Fields(c.args)...), c.want)
	}
	wantNothing(t, "runs")
}

func TestPeerTable(t *testing.T) {
	ours := func(perSecond float64, p50 int64) result.Run {
		return result.Run{
			Run:  result.Info{FinishedAt: time.Unix(1, 0)},
			Load: result.Load{Scheduled: 1, Acked: 1, AckedPerS: perSecond}, Consumer: result.Consumer{Members: 1},
			Delivery: result.Delivery{Delivered: 1, DeliveredPerS: perSecond},
			Time:     map[string]result.Time{"send_service_time": {Count: 999, P50Ns: p50, P95Ns: 2 * p50, P99Ns: 3 * p50}},
		}
	}
	theirs := ours(900, 3e6)
	theirs.Run.Imported = &result.Imported{CannotSay: []string{"delivery", "time.send_service_time.p95_ns"}}
	var b strings.Builder
	err := printPeers(&b, &peers.Rounds{
		Scenario: scenario.Defaults(),
		Runs:     [...][]result.Run{{ours(1000, 1e6), ours(3000, 9e6), ours(1500, 2e6)}, {theirs, theirs}, nil},
	})
	if err != nil {
		t.Fatal(err)
	}
	lines := make(map[string]bool)
	for line := range strings.Lines(b.String()) {
		lines[strings.Join(strings.Fields(line), " ")] = true
	}
	for _, want := range []string{
		"runs 3 2 0", "acked 1,500/s 900/s –", "delivered 1,500/s – –",
		"send service time p50 2.00 ms 3.00 ms –", "send service time p95 4.00 ms – –",
		"send service time p99 – – –", // 999 records do not support it
		"e2e response time p50 – – –",
	} {
		if !lines[want] {
			t.Errorf("the table has no line %q:\n%s", want, b.String())
		}
	}
	if !strings.Contains(b.String(), "Mind: "+peers.Consumer) {
		t.Errorf("the table does not warn of differences:\n%s", b.String())
	}
}

// The runs of the other tools are imported: they have no verdict, and are no failure.
func TestPeersAreValid(t *testing.T) {
	for _, c := range []struct {
		ours, theirs string
		want         error
	}{
		{result.Valid, result.Unchecked, nil},
		{result.Invalid, result.Unchecked, errInvalid},
		{result.Valid, result.Invalid, errInvalid},
	} {
		made := result.Campaign{Runs: []result.CampaignRun{{Status: c.ours}, {Cell: 1, Status: c.theirs}}}
		if got := validPeers(&made); !errors.Is(got, c.want) {
			t.Errorf("%s and %s: %v, want %v", c.ours, c.theirs, got, c.want)
		}
		if n := made.Made(); n != 2 {
			t.Errorf("%s and %s: %d runs are made, want 2", c.ours, c.theirs, n)
		}
	}
}
