package report_test

import (
	"bytes"
	"testing"

	"kafka-bench/internal/report"
	"kafka-bench/internal/result"
	"kafka-bench/internal/result/resulttest"
)

func sideBySide(t *testing.T, runs ...*result.Recorded) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := report.SideBySide(&b, runs, report.Options{}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestSideBySide(t *testing.T) {
	got := sideBySide(t, resulttest.Overload().Run(), resulttest.OverloadLoose().Run(), resulttest.OverloadTight().Run())
	screens(t, got, 70)
	golden(t, "side-by-side", got)
}

// Repeats of one name share a column; the invalid ones are left out of it, and
// are not left out of the telling.
func TestSideBySideOfRepeats(t *testing.T) {
	var runs []*result.Recorded
	for seed := range uint64(3) {
		for _, p := range []resulttest.Plan{resulttest.Overload(), resulttest.OverloadLoose(), resulttest.OverloadTight()} {
			p.Seed += 10 * seed
			runs = append(runs, p.Run())
		}
	}
	bad := resulttest.OverloadTight().Run()
	bad.Run.Verdict = result.Verdict{Status: result.Invalid, Reasons: []string{"pacer lateness p99 is 7.42 ms, and may be 2 ms"}}
	bad.Run.Load.Shed = 1
	worse := killed()
	worse.Run.Run.Name = "overload"
	got := sideBySide(t, append(runs, bad, worse)...)
	screens(t, got, 70)
	golden(t, "side-by-side-repeats", got)
}
