package judge

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/measure/latency"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
	"kafkabench.example/kafka-bench/internal/result"
)

// "After" begins when every record has arrived that became due during the faults.
func TestDividedAtTheFaults(t *testing.T) {
	const s = int64(time.Second)
	window := func(oldest ...int64) (all []Tally) {
		for i, due := range oldest {
			all = append(all, Tally{StartNs: int64(i) * s, EndNs: int64(i+1) * s, OldestDueNs: due})
		}
		return all
	}
	none := snapshot.NothingDue
	for _, test := range []struct {
		name         string
		all          []Tally
		from, to     int64
		first, after int
	}{
		{"nothing waits", window(none, none, none, none, none), 1*s + 1, 2*s + 1, 1, 3},
		{"it ends with an interval", window(none, none, none, none), 1 * s, 2 * s, 1, 2},
		{"it waits in the backlog", window(none, s, s, 2*s, 4*s, 5*s), 1 * s, 3 * s, 1, 5},
		{"records of one partition never came", window(none, s, s, s), 1 * s, 2 * s, 1, 4},
		{"the last moment", window(none, none), 2 * s, 2 * s, 2, 2},
		{"no window", nil, 1 * s, 2 * s, 0, 0},
	} {
		if first, after := divide(test.all, test.from, test.to); first != test.first || after != test.after {
			t.Errorf("%s: during is %d to %d, want %d to %d", test.name, first, after, test.first, test.after)
		}
	}
}

func TestTimesOfTheStretches(t *testing.T) {
	var file bytes.Buffer
	log := latency.NewLogWriter(&file, time.Now())
	write := func(second int, measured bool, records int64) {
		h := latency.NewHistogram()
		h.RecordN(int64(time.Millisecond), records)
		at := time.Duration(second) * time.Second
		if err := log.Write(at, at+time.Second, latency.Tag(measured, latency.E2EResponseTime), h); err != nil {
			t.Fatal(err)
		}
	}
	write(-1, false, 1000)
	write(0, false, 100) // it was in flight when the warm-up ended
	write(0, true, 1)
	write(1, true, 2)
	write(2, true, 4)
	write(3, true, 8)  // in the drain
	write(4, true, 16) // in the drain
	at := func(second int64) []Tally {
		return []Tally{{StartNs: second * 1e9, EndNs: (second + 1) * 1e9}}
	}
	for _, test := range []struct {
		name  string
		parts [][]Tally
		want  []int64
	}{
		{"all three", [][]Tally{at(0), at(1), at(2)}, []int64{1, 2, 28}},
		{"it was not over by the end", [][]Tally{at(0), append(at(1), at(2)...), nil}, []int64{1, 30, 0}},
		{"from the start", [][]Tally{nil, append(at(0), at(1)...), at(2)}, []int64{0, 3, 28}},
		{"no interval", [][]Tally{nil, nil, nil}, []int64{0, 0, 0}},
	} {
		times, err := timesOf(latency.ReadLog(bytes.NewReader(file.Bytes())), test.parts...)
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range test.want {
			if got := times[i]["e2e_response_time"].Count; got != want || len(times[i]) > 1 {
				t.Errorf("%s: part %d has %d times, want %d: %v", test.name, i, got, want, times[i])
			}
		}
	}
}

func acknowledged(gaps ...snapshot.Gaps) snapshot.Snapshot {
	return snapshot.Snapshot{Last: &snapshot.Last{AckGaps: gaps}}
}

// Only gaps that overlap the fault count as its cost.
func TestGapsOfTheFaults(t *testing.T) {
	const s = int64(time.Second)
	back := 9 * s
	e := &Evidence{
		Setup:  Setup{ReadTo: []int64{3, 4}},
		Window: Window{EndNs: 20 * s, FinishedNs: 28 * s},
		Seen:   Seen{Replicas: &Replicas{InSync: true, SyncedNs: -1 << 62}},
		Faults: Faults{Injected: []result.Fault{{Name: "kill", Target: "broker 3", StartNs: 7 * s, EndNs: &back}}},
		Sent: acknowledged(
			snapshot.Gaps{All: []snapshot.Gap{{FromNs: 2 * s, ToNs: 5 * s}, {FromNs: 8 * s, ToNs: 8*s + 300e6}}},
			snapshot.Gaps{All: []snapshot.Gap{{FromNs: 6 * s, ToNs: 7*s + 1}, {FromNs: 15 * s, ToNs: 17 * s}}},
		),
		Groups: []Group{{AtStop: []snapshot.Reached{{Position: 3}, {Position: 3}}, Gaps: []snapshot.Gaps{
			{All: []snapshot.Gap{{FromNs: 2 * s, ToNs: 5 * s}, {LastNs: 8 * s, FromNs: 8 * s, ToNs: 25 * s}}}, // in the drain
			{All: []snapshot.Gap{{FromNs: 30 * s, ToNs: 31 * s}, {LastNs: 6 * s, FromNs: 1 << 61, ToNs: math.MaxInt64 / 2}}},
		}}},
		Histograms: latency.ReadLog(strings.NewReader("")),
	}
	availability := func() *result.Availability {
		a, err := e.availability()
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	a := availability()
	if a.AckGapMaxNs != s+1 || len(a.AckGaps) != 2 || a.AckGaps[0].FromNs != 8*s || a.AckGaps[1].FromNs != 6*s {
		t.Errorf("the gaps of the fault are %+v, the longest %d", a.AckGaps, a.AckGapMaxNs)
	}
	if e := a.AckGapElsewhere; e == nil || *e != (result.AckGap{Partition: 0, FromNs: 2 * s, ToNs: 5 * s}) || a.BrokenToEnd {
		t.Errorf("the others are %+v, broken to the end: %v", e, a.BrokenToEnd)
	}
	delivered := []result.AckGap{{Partition: 0, FromNs: 8 * s, ToNs: 25 * s}, {Partition: 1, FromNs: 6 * s, ToNs: 28 * s, Open: true}}
	if a.DeliveryGapMaxNs == nil || *a.DeliveryGapMaxNs != 22*s || !slices.Equal(a.DeliveryGaps, delivered) {
		t.Errorf("nothing was delivered in %+v, want %+v", a.DeliveryGaps, delivered)
	}
	e.Drained = true // all was read, so no record waits
	if a := availability(); !slices.Equal(a.DeliveryGaps, delivered[:1]) {
		t.Errorf("drained, nothing was delivered in %+v", a.DeliveryGaps)
	}
	e.Faults.Injected = nil
	if a := availability(); a != nil {
		t.Errorf("without a fault there is %+v", a)
	}
}

// "During" lasts until all replicas are in sync and every gap that began by then has ended.
func TestBrokenUntilAllIsAsBefore(t *testing.T) {
	const s = int64(time.Second)
	kill := result.Fault{Name: "kill", Target: "leader of partition 0", Hit: "broker 2", StartNs: 5 * s}
	back, late := 8*s, 25*s
	killed, killedForLong := kill, kill
	killed.EndNs, killedForLong.EndNs = &back, &late
	restarted := result.Fault{Name: "restart", Target: "broker 1", StartNs: 5 * s, EndNs: &back}
	gaps := func(all ...snapshot.Gap) []snapshot.Gaps { return []snapshot.Gaps{{All: all}} }
	never := Replicas{InSync: true, SyncedNs: -1 << 62}
	for _, test := range []struct {
		name     string
		faults   []result.Fault
		shown    Replicas
		gaps     []snapshot.Gaps
		from, to int64
		known    bool
	}{
		{name: "no fault", shown: never},
		{name: "of a consumer", shown: never, faults: []result.Fault{{Name: "kill", Target: "consumer 1", StartNs: s}}},
		{"until the acknowledgement", []result.Fault{killed}, never, gaps(snapshot.Gap{FromNs: 4 * s, ToNs: 9 * s}), 5 * s, 9 * s, true},
		{"until in sync", []result.Fault{restarted}, Replicas{InSync: true, SyncedNs: 11 * s}, gaps(snapshot.Gap{FromNs: 5 * s, ToNs: 6 * s}), 5 * s, 11 * s, true},
		{"until it serves", []result.Fault{restarted}, never, nil, 5 * s, 8 * s, true},
		{"never in sync", []result.Fault{killed}, Replicas{SyncedNs: 2 * s}, nil, 5 * s, 20 * s, true},
		{"never back, and not missed yet", []result.Fault{kill}, never, gaps(snapshot.Gap{FromNs: 5 * s, ToNs: 9 * s}), 5 * s, 20 * s, true},
		{"back behind the window", []result.Fault{killedForLong}, never, nil, 5 * s, 20 * s, true},
		{"of which one never came back", []result.Fault{restarted, {Name: "pause", Target: "broker 3", StartNs: 6 * s}}, never, nil, 5 * s, 20 * s, true},
		{"a start of itself", []result.Fault{killed, {Name: "start", Target: "broker 2", StartNs: 7 * s}}, never, nil, 5 * s, 8 * s, true},
		{"gaps before and after", []result.Fault{restarted}, never, gaps(snapshot.Gap{FromNs: 1 * s, ToNs: 2 * s}, snapshot.Gap{FromNs: 12 * s, ToNs: 13 * s}), 5 * s, 8 * s, true},
	} {
		e := &Evidence{
			Window: Window{EndNs: 20 * s}, Faults: Faults{Injected: test.faults}, Seen: Seen{Replicas: &test.shown},
			Sent: acknowledged(test.gaps...),
		}
		if from, to, known := e.broken(); from != test.from || to != test.to || known != test.known {
			t.Errorf("%s: broken from %d to %d (%v), want %d to %d (%v)", test.name, from, to, known, test.from, test.to, test.known)
		}
	}
}

func TestLostRecordsHaveACause(t *testing.T) {
	v := verdict{Evidence: &Evidence{Faults: Faults{Injected: []result.Fault{
		{Name: "kill", Target: "leader of partition 0", Hit: "broker 2"}, {Name: "pause", Target: "broker 3"},
	}}}}
	for acks, want := range map[string]string{
		"all": "LOST, which acks all should prevent when broker 2 and broker 3 fails", "1": "with acks 1 only the leader had them", "0": "with acks 0 no broker",
	} {
		v.Scenario.Load.Acks = acks
		if got := v.lostWarning(); !strings.Contains(got, want) {
			t.Errorf("acks %s: %q, want %q in it", acks, got, want)
		}
	}
	v.Faults.Injected = nil
	if got := v.lostWarning(); got != "%s acknowledged records were lost" {
		t.Errorf("without a fault: %q", got)
	}
}

func TestLongGapIsAWarning(t *testing.T) {
	const s = int64(time.Second)
	gap := snapshot.Gap{FromNs: 3 * s, ToNs: 3*s + 1_500e6}
	v := verdict{Evidence: &Evidence{
		Window: Window{EndNs: 20 * s}, Sent: acknowledged(snapshot.Gaps{}, snapshot.Gaps{All: []snapshot.Gap{gap}}),
	}}
	if got := v.warningsOfTheAcks(); len(got) != 1 || !strings.HasPrefix(got[0], "partition 1 had no acknowledgement for 1.5 s, from 3.0 s on") {
		t.Errorf("it warns %q", got)
	}
	v.Scenario.Backpressure.Controller = "credit"
	if got := v.warningsOfTheAcks(); len(got) > 0 {
		t.Errorf("under backpressure it warns %q", got)
	}
	v.Scenario.Backpressure.Controller = "off"
	v.Sent = acknowledged(snapshot.Gaps{All: []snapshot.Gap{{FromNs: s, ToNs: s + 900e6}}})
	if got := v.warningsOfTheAcks(); len(got) > 0 {
		t.Errorf("of 0.9 s it warns %q", got)
	}
}
