package send

import (
	"kafkabench.example/kafka-bench/internal/measure/latency"
	"kafkabench.example/kafka-bench/internal/measure/ledger"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
)

// Behind reports the open and waiting records of all partitions. awaited is what still has to
// arrive, by partition and producer. Behind drops the due times of the records that have arrived.
func (ps *Producers) Behind(awaited [][]ledger.Awaited) snapshot.Behind {
	b := snapshot.NewBehind(ps.AckedIn(len(awaited)))
	for partition := range awaited {
		b.OpenRecords[partition], b.OldestDueNs[partition] = ps.openIn(partition, awaited[partition])
	}
	b.WaitingRecords, b.WaitingDueNs = ps.Waiting()
	return b
}

// AddTo adds the sending side's histograms to a collector.
func (ps *Producers) AddTo(c *latency.Collector) {
	for _, w := range ps.workers {
		c.Add(w.recorder)
	}
}

// Spending returns the latest due time that the workers offered and the earliest that they did not
// offer; valid once Spent's channel is closed.
func (ps *Producers) Spending() snapshot.Spending {
	ps.volume.mu.Lock()
	defer ps.volume.mu.Unlock()
	return snapshot.Spending{LastNs: ps.volume.last, NextNs: ps.volume.next}
}

// AckGaps returns the gaps between the acks of each partition, over all workers; nil without workers. Call it
// after Close.
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
