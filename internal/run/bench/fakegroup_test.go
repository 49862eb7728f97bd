package bench

import (
	"kafkabench.example/kafka-bench/internal/load/receive"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
	"kafkabench.example/kafka-bench/internal/run/remote"
)

type fakePart struct {
	remote.Part
	stand func(remote.Want) snapshot.Snapshot
}

func (p fakePart) Snapshot(w remote.Want) (snapshot.Snapshot, error) { return p.stand(w), nil }

func groupOf(stand func(remote.Want) snapshot.Group) *remote.Consumers {
	return remote.ConsumersOf(fakePart{stand: func(w remote.Want) snapshot.Snapshot {
		return snapshot.Snapshot{Groups: []snapshot.Group{stand(w)}}
	}}, receive.Config{}, remote.Opened{})
}
