package report_test

import (
	"strings"
	"testing"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/resulttest"
	"kafkabench.example/kafka-bench/internal/show/report"
	"kafkabench.example/kafka-bench/internal/show/showtest"
)

func failedOver(t *testing.T) *result.Recorded {
	t.Helper()
	r := showtest.Simulate(t, resulttest.Baseline())
	run := &r.Run
	back, under, least, leaderless, changes := int64(16_200e6), 4.7, 0.0, 0.2, int64(3)
	run.Faults = []result.Fault{
		{Name: "kill", Target: "leader of partition 0", Hit: "broker 1", StartNs: 5_048e6, EndNs: &back},
		{Name: "start", Target: "broker 1", StartNs: 12_105e6, Detail: "broker 1 served again after 4.11 s"},
	}
	stretch := func(from, to, ms, count int64) *result.Stretch {
		return &result.Stretch{StartNs: from * 1e9, EndNs: to * 1e9, Scheduled: 10_000 * (to - from), AckedPerS: 10_000, DeliveredPerS: 9_999, Time: map[string]result.IntervalTime{
			"e2e_response_time": {Count: count, P50Ns: ms * 1e6, P99Ns: ms * 4e6, MaxNs: ms * 5e6},
		}}
	}
	silent := int64(17_600e6)
	run.Availability = &result.Availability{
		AckGapMaxNs: 8_338e6,
		AckGaps: []result.AckGap{
			{Partition: 0, FromNs: 4_990e6, ToNs: 13_328e6}, {Partition: 1, FromNs: 4_995e6, ToNs: 11_744e6},
			{Partition: 2, FromNs: 5_061e6, ToNs: 11_632e6}, {Partition: 3, FromNs: 7_000e6, ToNs: 7_030e6},
		},
		DeliveryGapMaxNs: &silent,
		DeliveryGaps:     []result.AckGap{{Partition: 0, FromNs: 4_990e6, ToNs: 13_400e6}, {Partition: 2, FromNs: 5_100e6, ToNs: 22_700e6}},
		AckGapElsewhere:  &result.AckGap{Partition: 3, FromNs: 1_500e6, ToNs: 1_758e6},
		UnderReplicatedS: &under, UnderMinISRS: &least, LeaderlessS: &leaderless, LeaderChanges: &changes, LookedEveryNs: 120e6,
		Before: stretch(0, 5, 12, 49_990), During: stretch(5, 17, 1_600, 120_010), After: stretch(17, 20, 6, 30_000),
	}
	run.Delivery.Duplicates = 7
	refused := result.Event{Kind: "error", What: "consumer 0", Reason: "connection refused"}
	at := func(ns int64, e result.Event) result.Event { e.AtNs = ns; return e }
	r.Events = append(r.Events, result.Event{AtNs: 5_048e6, Kind: "fault", What: "kill leader of partition 0", Reason: "broker 1"},
		at(5_100e6, refused), at(5_300e6, refused), at(6_000e6, refused),
		result.Event{AtNs: 11_660e6, Kind: "broker", What: "leader of partition 0: broker 1 → 2"},
		result.Event{AtNs: 12_105e6, Kind: "fault", What: "start broker 1"},
		result.Event{AtNs: 16_366e6, Kind: "broker", What: "all replicas are in sync again"})
	return r
}

func TestTextOfAvailability(t *testing.T) {
	r := failedOver(t)
	got := text(t, r, report.Options{})
	showtest.Golden(t, "availability", got)
	if n := strings.Count(string(got), "connection refused"); n != 1 {
		t.Errorf("an error that goes on is told %d times", n)
	}
	for _, width := range []int{80, 120} {
		showtest.Screens(t, text(t, r, report.Options{Width: width}), width, 121)
	}
	r.Run.Delivery.Lost = 3
	r.Run.Availability.After, r.Run.Availability.UnderReplicatedS = nil, nil
	got = text(t, r, report.Options{})
	for _, not := range []string{"\n  after", "under-replicated"} {
		if strings.Contains(string(got), not) {
			t.Errorf("it says %q:\n%s", not, got)
		}
	}
	for _, want := range []string{"3 LOST", "3 acked records not in it"} {
		if !strings.Contains(strings.Join(strings.Fields(string(got)), " "), want) {
			t.Errorf("it does not say %q:\n%s", want, got)
		}
	}
	if strings.Contains(string(got), "all acked was delivered") {
		t.Errorf("records were lost, and it says that all was delivered:\n%s", got)
	}
}

// A broker that was killed shortly before the window's end counts as gone, even if the controller
// had not noticed it.
func TestTextOfABrokerThatStaysAway(t *testing.T) {
	r := failedOver(t)
	never := 0.0
	a := r.Run.Availability
	a.BrokenToEnd, a.UnderReplicatedS, a.UnderMinISRS, a.LeaderlessS, a.After = true, &never, &never, &never, nil
	a.During.Time["e2e_response_time"] = result.IntervalTime{Count: 10, P50Ns: 1e6, MaxNs: 2e6}
	got := strings.Join(strings.Fields(string(text(t, r, report.Options{}))), " ")
	for _, want := range []string{"not seen under-replicated before the window ended", "in no time 150,000 of 200,000 records that were due have no e2e response time"} {
		if !strings.Contains(got, want) {
			t.Errorf("it does not say %q:\n%s", want, got)
		}
	}
	if strings.Contains(got, "never under-replicated") || strings.Contains(got, "never without") {
		t.Errorf("it says never:\n%s", got)
	}
}

func TestMarkdownOfAvailability(t *testing.T) {
	var b strings.Builder
	if err := report.Runs(&b, []*result.Recorded{failedOver(t)}, report.Options{Format: report.AsMarkdown}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"**Availability, where brokers were broken**", "- no ack for: 8.34 s in partition 0 (from 5 s to 13.3 s) · 6.75 s in partition 1",
		"- no delivery: for 17.6 s in partition 2 (from 5.1 s to 22.7 s)", "broker 1 was gone for 11.2 s",
		"at most 30.0 ms in 1 partition more", "| during |", "6.40 s", "**Faults, and what followed**",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("it lacks %q:\n%s", want, b.String())
		}
	}
}

func TestTimesNotReliedOn(t *testing.T) {
	r := failedOver(t)
	for metric := range r.Run.Time {
		r.Run.Run.NotMeasured = append(r.Run.Run.NotMeasured, "time."+metric)
	}
	said := string(text(t, r, report.Options{}))
	_, times, _ := strings.Cut(said, "Times")
	times, _, _ = strings.Cut(times, "Lag")
	if !strings.Contains(times, "not to be relied on, the tool was starved of CPU") || strings.Contains(times, " ms") || strings.Contains(times, "fewer than 10") {
		t.Errorf("the times are\n%s", times)
	}
	if _, after, _ := strings.Cut(said, "Availability"); !strings.Contains(after, "before") || strings.Contains(after[strings.Index(after, "before"):strings.Index(after, "after ")], " ms") {
		t.Errorf("beside the faults it says\n%s", after)
	}
}

func TestTextOfGapsCutOff(t *testing.T) {
	r := failedOver(t)
	a := r.Run.Availability
	a.AckGaps = []result.AckGap{{Partition: 2, FromNs: 5_050e6, ToNs: 9_400e6, Open: true}}
	a.DeliveryGapMaxNs, a.DeliveryGaps = nil, nil
	r.Run.Faults[0].EndNs = nil
	r.Run.Lag.Drained, r.Run.Delivery.Pending = false, 0
	got := strings.Join(strings.Fields(string(text(t, r, report.Options{}))), " ")
	for _, want := range []string{
		"no ack for at least 4.35 s in partition 2 (from 5.1 s on, to the end)", "no delivery for a time that is not known",
		"broker 1 was gone from 5 s to the end", "replicas in the measured window under-replicated for", "no acked record was known to be missing",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("it does not say %q:\n%s", want, got)
		}
	}
	if strings.Contains(got, "0 acked records undelivered") {
		t.Errorf("it says that nothing was undelivered, and calls it that:\n%s", got)
	}
}
