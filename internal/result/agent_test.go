package result_test

import (
	"reflect"
	"testing"

	"kafkabench.example/kafka-bench/internal/result"
)

func TestAgentsFile(t *testing.T) {
	w := create(t)
	if err := writeAll(w, result.Run{}, result.Interval{}, result.Event{}); err != nil {
		t.Fatal(err)
	}
	if r := read(t, w.Dir()); r.Agents != nil || len(r.Notes) != 0 {
		t.Errorf("without agents: read %+v, notes %q", r.Agents, r.Notes)
	}
	w = create(t)
	want := []result.AgentInterval{
		{Index: 0, StartNs: 0, EndNs: 1e9, Scheduled: 5, Acked: 4, InFlightRecords: 1, PacerLatenessP99Ns: new(int64(7))},
		{Index: 1, StartNs: 0, EndNs: 1e9, Delivered: 4, E2EResponseP99Ns: new(int64(9)), CPUCores: new(0.5)},
	}
	for _, line := range want {
		if err := w.Agent(line); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Finish(result.Run{}); err != nil {
		t.Fatal(err)
	}
	if err := w.Agent(want[0]); err == nil {
		t.Error("a line after the end was taken")
	}
	r := read(t, w.Dir())
	if !reflect.DeepEqual(r.Agents, want) {
		t.Errorf("read %+v, want %+v", r.Agents, want)
	}
}
