package bench

import (
	"testing"

	"kafkabench.example/kafka-bench/internal/load"
	"kafkabench.example/kafka-bench/internal/result"
)

// readings counts how often a run was asked how far it is. At each reading one more
// record has gone through: it is acknowledged and delivered.
type readings struct{ n int64 }

type receiving struct {
	group
	readings *readings
}

type offering struct {
	senders
	readings *readings
}

func (r *readings) next() int64 {
	r.n++
	return r.n
}

func (g receiving) Reached() []load.Reached {
	return []load.Reached{{Position: 1, Arrived: g.readings.next(), Next: []uint64{1}}}
}

func (s offering) Behind([][]uint64) load.Behind {
	return load.Behind{AckedIn: []int64{s.readings.next()}, OldestDueNs: []int64{load.NothingDue}}
}

// TestBacklogIsNeverUnderstated: what arrived is read before what was acknowledged, so
// that a record that goes through between the two counts as behind.
func TestBacklogIsNeverUnderstated(t *testing.T) {
	through := &readings{}
	r := &run{
		axis: load.NewAxis(nil), groups: groups{receiving{readings: through}},
		producers: offering{readings: through}, lag: &lagWatch{},
	}
	r.cfg.Scenario.Load.Producers = 1
	var iv result.Interval
	if r.addLag(&iv); iv.BacklogRecords != 1 {
		t.Errorf("the backlog is %d; want 1: a record went through while it was read", iv.BacklogRecords)
	}
}
