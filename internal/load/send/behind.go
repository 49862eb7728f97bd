package send

import (
	"kafkabench.example/kafka-bench/internal/measure/latency"
	"kafkabench.example/kafka-bench/internal/measure/ledger"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
)

// Behind answers for all partitions, given what is to arrive in each of them of the lane
// of each producer. Asking is what makes the lanes forget what has arrived.
func (ps *Producers) Behind(awaited [][]ledger.Awaited) snapshot.Behind {
	b := snapshot.NewBehind(ps.AckedIn(len(awaited)))
	for partition := range awaited {
		b.OpenRecords[partition], b.OldestDueNs[partition] = ps.openIn(partition, awaited[partition])
	}
	b.WaitingRecords, b.WaitingDueNs = ps.Waiting()
	return b
}

// AddTo has a collector gather the histograms of the sending side.
func (ps *Producers) AddTo(c *latency.Collector) {
	for _, w := range ps.workers {
		c.Add(w.recorder)
	}
}

// Spending is how the volume came to its end, once Spent is closed.
func (ps *Producers) Spending() snapshot.Spending {
	ps.volume.mu.Lock()
	defer ps.volume.mu.Unlock()
	return snapshot.Spending{LastNs: ps.volume.last, NextNs: ps.volume.next}
}

// AckGaps are the gaps in the acknowledgements of each partition, of all workers
// together, once they are closed; nil where nobody produces.
func (ps *Producers) AckGaps() (all []snapshot.Gaps) {
	for _, w := range ps.workers {
		w.recorder.Lock()
		own := make([]snapshot.Gaps, len(w.acks))
		for p := range w.acks {
			own[p] = w.acks[p].Gaps()
		}
		w.recorder.Unlock()
		all = snapshot.MergeGaps(all, own)
	}
	return all
}
