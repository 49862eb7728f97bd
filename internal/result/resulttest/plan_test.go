package resulttest_test

import (
	"reflect"
	"testing"

	"kafkabench.example/kafka-bench/internal/result/resulttest"
)

func TestBooksOfMadeUpRunsBalance(t *testing.T) {
	deferring := resulttest.OverloadTight()
	deferring.Excess = "defer"
	for _, p := range []resulttest.Plan{
		resulttest.Overload(), resulttest.OverloadLoose(), resulttest.OverloadTight(), resulttest.Baseline(), deferring,
	} {
		r := p.Run()
		l, d := r.Run.Load, r.Run.Delivery
		if l.Scheduled != p.RatePerS*int64(p.Measure.Seconds()) {
			t.Errorf("%s: scheduled %d", p.Name, l.Scheduled)
		}
		if l.Scheduled != l.Admitted+l.Deferred+l.Shed || l.Admitted != l.Acked+l.Failed+l.Unknown || l.Acked != d.Unique+d.Pending {
			t.Errorf("%s: the books do not balance: %+v %+v", p.Name, l, d)
		}
		var delivered int64
		for _, i := range r.Intervals {
			delivered += i.Delivered
		}
		if want := d.Delivered + r.Run.Warmup.Delivery.Delivered; delivered != want {
			t.Errorf("%s: the intervals delivered %d, the books %d", p.Name, delivered, want)
		}
		if p == deferring && !reflect.DeepEqual(r, p.Run()) {
			t.Errorf("%s: two runs of one plan differ", p.Name)
		}
	}
}
