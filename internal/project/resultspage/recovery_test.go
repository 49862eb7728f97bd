package main

import (
	"math"
	"strings"
	"testing"

	"kafkabench.example/kafka-bench/internal/result"
)

func changed(c result.Change) *result.Run {
	return &result.Run{Lag: result.Lag{Changes: []result.Change{c}}}
}

func TestRecovery(t *testing.T) {
	took := 0.5
	r, found := recoveryOf(changed(result.Change{
		BacklogRecords: 200_500, NormalRecords: 500, OfferedPerS: 10_000, DeliveredPerS: 410_000, DrainTimeS: &took,
	}))
	if !found || r.ExpectedS != 0.5 || r.difference() != 0 {
		t.Errorf("%+v, %v", r, found)
	}
	took = 0.4 // then the run was faster than its own rates allow
	if d := r.difference(); math.Abs(d-0.25) > 1e-9 {
		t.Errorf("difference %v, want 0.25", d)
	}
	if r, found := recoveryOf(changed(result.Change{BacklogRecords: 3})); found {
		t.Errorf("found %+v where nothing was drained", r)
	}
}

func TestRecoveryTable(t *testing.T) {
	s := newShelf()
	if got := s.recovery("recovery-aggressive"); !strings.Contains(got, "no run") {
		t.Error(got)
	}
	took := 0.5
	s.of("recovery-aggressive").cells = []cell{{runs: []*result.Recorded{{Run: validly(changed(result.Change{
		BacklogRecords: 200_500, NormalRecords: 500, OfferedPerS: 10_000, DeliveredPerS: 400_000, DrainTimeS: &took,
	}))}, {Run: validly(changed(result.Change{}))}}}}
	got := s.recovery("recovery-aggressive")
	for _, want := range []string{"200,500 records", "| drain rate | 400,000/s | – |", "| 513 ms | – |", "| difference | 2.56 % | – |"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing:\n%s", want, got)
		}
	}
}

func validly(r *result.Run) result.Run {
	r.Verdict.Status = result.Valid
	return *r
}
