package remote

import (
	"kafkabench.example/kafka-bench/internal/measure/ledger"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
)

// Reached is how far the group has come in each partition, whichever processes have
// read it.
func (cs *Consumers) Reached() []snapshot.Reached { return cs.reachedBy(cs.reached(Ask[GroupReached])) }

// reachedBy is Reached by what the processes say.
func (cs *Consumers) reachedBy(processes []GroupReached) []snapshot.Reached {
	all := make([]snapshot.Reached, cs.cfg.Group.Partitions)
	for p := range all {
		all[p] = cs.reachedIn(p, processes)
	}
	return all
}

// Positions is Reached without what has arrived and what is expected, so that no
// process has to send its books. Whoever asks for them asks again.
func (cs *Consumers) Positions() []snapshot.Reached {
	all := make([]snapshot.Reached, cs.cfg.Group.Partitions)
	for p := range all {
		all[p] = snapshot.Reached{Position: cs.from(p), At: snapshot.NeverHanded}
	}
	for _, there := range askAll(cs, ConsumersName+".Positions", AskSoon[[]snapshot.Reached]) {
		for p := range there { // none, if it never said anything
			all[p] = all[p].Furthest(there[p])
		}
	}
	return all
}

// DeliveryGaps are the times in which nothing was handed over in any process; nil where
// one does not say, whose deliveries would seem to be missing.
func (cs *Consumers) DeliveryGaps() (all []snapshot.Gaps) {
	for _, there := range askAll(cs, ConsumersName+".DeliveryGaps", Ask[[]snapshot.Gaps]) {
		if len(there) != cs.cfg.Group.Partitions {
			return nil
		}
		all = snapshot.MergeGaps(all, there)
	}
	return all
}

// reached is what each process says that it has reached, if it says anything.
func (cs *Consumers) reached(ask func(*Process, string) (GroupReached, error)) (some []GroupReached) {
	for _, r := range askAll(cs, ConsumersName+".Reached", ask) {
		if len(r.Partitions) == cs.cfg.Group.Partitions {
			some = append(some, r)
		}
	}
	return some
}

// reachedIn lays together what the processes say of a partition. Where there are
// stamps, what has arrived is what the books have when they are laid together.
// Without, it is known by the offsets: what several were handed counts once, because
// a group passes over nothing.
func (cs *Consumers) reachedIn(partition int, processes []GroupReached) snapshot.Reached {
	at := snapshot.Reached{Position: cs.from(partition), At: snapshot.NeverHanded}
	for _, r := range processes {
		at = at.Furthest(r.Partitions[partition])
	}
	if cs.cfg.Group.Stamped {
		books := cs.merged(partition, processes)
		at.Arrived, at.Awaited = books.Arrived(), books.Expected()
		return at
	}
	at.Arrived = min(at.Arrived, at.Position-cs.from(partition))
	at.Awaited = make([]ledger.Awaited, cs.cfg.Group.Producers)
	return at
}

// from is the offset where a partition starts.
func (cs *Consumers) from(partition int) int64 {
	if from := cs.cfg.Group.From; from != nil {
		return from[partition]
	}
	return 0
}

// merged are the books of a partition.
func (cs *Consumers) merged(partition int, processes []GroupReached) *ledger.Receiver {
	receivers := []*ledger.Receiver{ledger.NewReceiver(int32(partition), cs.cfg.Group.Producers)}
	for _, r := range processes {
		if books := r.Books[int32(partition)]; books != nil {
			receivers = append(receivers, books)
		}
	}
	return ledger.Merge(receivers)
}

// Receivers are the receiving side of the books, by partition, once the group was
// stopped; of a process that died, as it last told.
func (cs *Consumers) Receivers() []*ledger.Receiver {
	processes := cs.reached(Ask[GroupReached])
	all := make([]*ledger.Receiver, cs.cfg.Group.Partitions)
	for p := range all {
		all[p] = cs.merged(p, processes)
	}
	return all
}
