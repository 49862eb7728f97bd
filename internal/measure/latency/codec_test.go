package latency

import (
	"testing"

	"pgregory.net/rapid"
)

type elsewhere struct {
	collector Collector
	err       error
}

func (e *elsewhere) Recorded(merge func(Encoded) error) {
	if err := merge(e.collector.Collect().Encode()); err != nil {
		e.err = err
	}
}

// A collector of local and remote values equals one histogram, with the true minimum.
func TestCollectFromElsewhere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var here Collector
		there := [2]elsewhere{}
		recorders := []*Recorder{NewRecorder(used...), NewRecorder(used...), NewRecorder(used...)}
		here.Add(recorders[0])
		for i := range there {
			there[i].collector.Add(recorders[i+1])
			here.AddSource(&there[i])
		}
		total := &sums{}
		for range rapid.IntRange(1, 3).Draw(t, "intervals") {
			open := &sums{}
			for range rapid.IntRange(0, 20).Draw(t, "values") {
				r := rapid.SampledFrom(recorders).Draw(t, "recorder")
				measured := rapid.Bool().Draw(t, "measured")
				m := rapid.SampledFrom(used).Draw(t, "metric")
				ns, n := anywhere().Draw(t, "ns"), rapid.Int64Range(1, 1<<40).Draw(t, "n")
				r.Lock()
				r.RecordN(measured, m, ns, n)
				r.Unlock()
				open.at(bookOf(measured), int(m)).RecordN(ns, n)
				total.at(bookOf(measured), int(m)).RecordN(ns, n)
			}
			checkInterval(t, here.Collect(), open)
			checkTotals(t, &here, total)
		}
		for i := range there {
			if there[i].err != nil {
				t.Fatal(there[i].err)
			}
		}
	})
}

func TestMalformedInterval(t *testing.T) {
	var c Collector
	r := NewRecorder(SendDelay)
	c.Add(r)
	r.Record(true, SendDelay, 12345)
	r.Record(true, SendDelay, -7)
	whole := c.Collect().Encode()
	for cut := range whole {
		if err := c.take(whole[:cut]); cut > 0 && err == nil {
			t.Errorf("%d of %d bytes were taken for an interval", cut, len(whole))
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		changed := append([]byte(nil), whole...)
		for range rapid.IntRange(1, 4).Draw(t, "changes") {
			changed[rapid.IntRange(0, len(changed)-1).Draw(t, "at")] = rapid.Byte().Draw(t, "byte")
		}
		_ = c.take(changed)
	})
}
