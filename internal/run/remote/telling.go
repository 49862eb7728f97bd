package remote

import (
	"slices"

	"kafkabench.example/kafka-bench/internal/load/receive"
)

// What one process has been handed and could not commit comes to another when the
// first is killed or put out. Each finds out by itself when a record comes to it for
// the second time, but not that it came elsewhere before: so whoever is to lose its
// partitions by a fault has the others told what it has of them, in the moment
// before. The books need none of this (ledger.Merge). It is for what is known only
// when a record comes: its times, and the duplicates of an interval.

// held are the partitions that the members of a process have.
func (p *place) held() (partitions []int32) {
	a, _ := p.process.Do(Command{Do: Hold}) // an error is its end
	return a.Partitions
}

// tellOthers tells all other processes, and all that are to come, what this one was
// handed of partitions.
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
			_, _ = other.Do(Command{Do: Hear, Handed: a.Handed}) // of one that is still, hearOthers takes care
		}
	}
}

// hearOthers tells this process, which stood still, what others have been handed
// meanwhile of the partitions that it takes for its own.
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
			a.Handed[i].Unfinished = nil // of several, who knows it last can't be told
		}
		_, _ = p.process.Do(Command{Do: Hear, Handed: a.Handed})
	}
}

// toldSoFar is what a process that joins has to be told.
func (cs *Consumers) toldSoFar() []receive.Handed {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	return slices.Clone(cs.told)
}
