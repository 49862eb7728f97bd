package remote

import (
	"slices"

	"kafkabench.example/kafka-bench/internal/load/receive"
)

// When a process loses partitions by a fault, records that it received and did not commit go to
// another process. That process cannot know that they are duplicates. So the run reports the
// deliveries of the first process to all others right before the fault. This affects only times and
// the duplicates of an interval; the books do not need it (ledger.Merge).

func (p *place) held() (partitions []int32) {
	a, _ := p.process.Do(Command{Do: Hold}) // an error ends the process
	return a.Partitions
}

// tellOthers reports what this process received of partitions to all other processes, and to those
// that start later.
func (p *place) tellOthers(partitions []int32) {
	cs := p.group
	if !cs.cfg.Group.Stamped || len(partitions) == 0 {
		return
	}
	a, err := p.process.Do(Command{Do: Tell, Partitions: partitions})
	if err != nil {
		return
	}
	cs.mu.Lock()
	cs.told = append(cs.told, a.Handed...)
	cs.mu.Unlock()
	for _, other := range cs.Children() {
		if other != p.process {
			_, _ = other.Do(Command{Do: Hear, Handed: a.Handed}) // a paused process gets it from hearOthers
		}
	}
}

// hearOthers reports to this process, which was paused, what others received of its partitions
// meanwhile.
func (p *place) hearOthers() {
	partitions := p.held()
	if !p.group.cfg.Group.Stamped || len(partitions) == 0 {
		return
	}
	for _, other := range p.group.Children() {
		if other == p.process {
			continue
		}
		a, err := other.Do(Command{Do: Tell, Partitions: partitions})
		if err != nil {
			continue
		}
		for i := range a.Handed {
			a.Handed[i].Unfinished = nil // with several processes, the last owner is unknown
		}
		_, _ = p.process.Do(Command{Do: Hear, Handed: a.Handed})
	}
}

// toldSoFar returns what a new process must know of others.
func (cs *Consumers) toldSoFar() []receive.Handed {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	return slices.Clone(cs.told)
}
