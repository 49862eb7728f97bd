package remote

import (
	"slices"

	"kafkabench.example/kafka-bench/internal/load/receive"
)

// When a process loses partitions by a fault, records that it received and did not commit go to
// another process, which cannot know that they are duplicates. So the run reports the first
// process's deliveries to all others right before the fault.

func (p *place) held() (partitions []int32) {
	a, _ := p.process.Do(Command{Do: Hold})
	return a.Partitions
}

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
			_, _ = other.Do(Command{Do: Hear, Handed: a.Handed}) // a paused process gets this report from hearOthers
		}
	}
}

// hearOthers reports to this process, which was paused, what others received of its partitions.
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

func (cs *Consumers) toldSoFar() []receive.Handed {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	return slices.Clone(cs.told)
}
