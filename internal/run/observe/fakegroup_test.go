package observe

import (
	"kafkabench.example/kafka-bench/internal/load/receive"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
	"kafkabench.example/kafka-bench/internal/run/remote"
)

// fakePart is a part of which only snapshots can be asked.
type fakePart struct {
	remote.Part
	stand func(remote.Want) snapshot.Snapshot
}

func (p fakePart) Snapshot(w remote.Want) (snapshot.Snapshot, error) { return p.stand(w), nil }

// groupOf is a group whose members are a part that stands as stand says.
func groupOf(stand func(remote.Want) snapshot.Group) *remote.Consumers {
	return remote.ConsumersOf(fakePart{stand: func(w remote.Want) snapshot.Snapshot {
		return snapshot.Snapshot{Groups: []snapshot.Group{stand(w)}}
	}}, receive.Config{}, remote.Opened{})
}
