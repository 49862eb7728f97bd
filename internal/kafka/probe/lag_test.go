package probe

import (
	"slices"
	"sync/atomic"
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kafkabench.example/kafka-bench/internal/kafka/access"
)

func TestLagLiesBetweenTheBounds(t *testing.T) {
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(1, "t"))
	if err != nil {
		t.Fatal(err)
	}
	defer cluster.Close()
	r, err := NewLagReader(cluster.ListenAddrs(), access.Access{}, "t", []string{"g"}, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for range 10 {
		if err := r.client.ProduceSync(t.Context(), &kgo.Record{Topic: "t"}).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Commit(t.Context(), []int64{2}); err != nil {
		t.Fatal(err)
	}
	others, err := NewLagReader(cluster.ListenAddrs(), access.Access{}, "t", []string{"g"}, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer others.Close()
	cluster.ControlKey(int16(kmsg.ListOffsets), func(kmsg.Request) (kmsg.Response, error, bool) {
		cluster.SleepControl(func() {
			if err := others.Commit(t.Context(), []int64{7}); err != nil {
				t.Error(err)
			}
		})
		return nil, nil, false
	})
	lags, err := r.ReadBounds(t.Context())
	if err != nil || len(lags) != 1 {
		t.Fatalf("read %+v: %v", lags, err)
	}
	if l := lags[0]; l.Records != 8 || l.Partitions[0] != 8 || l.AtLeast != 3 {
		t.Errorf("read %+v; want 8 at the most and 3 at the least", l)
	}
}

func TestLogEnds(t *testing.T) {
	cluster, err := kfake.NewCluster(kfake.NumBrokers(3), kfake.SeedTopics(6, "t"))
	if err != nil {
		t.Fatal(err)
	}
	defer cluster.Close()
	r, err := NewLagReader(cluster.ListenAddrs(), access.Access{}, "t", nil, 6)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for range 20 {
		if err := r.client.ProduceSync(t.Context(), &kgo.Record{Topic: "t"}).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	var asked atomic.Int32
	cluster.ControlKey(int16(kmsg.ListOffsets), func(req kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		asked.Store(req.(*kmsg.ListOffsetsRequest).ReplicaID)
		return nil, nil, false
	})
	logs, err := r.LogEnds(t.Context())
	if err != nil || asked.Load() != debuggingReplica {
		t.Fatalf("asked as %d: %v", asked.Load(), err)
	}
	ends, err := r.Ends(t.Context())
	if err != nil || !slices.Equal(logs, ends) {
		t.Errorf("the logs end at %v, the watermarks are %v, %v", logs, ends, err)
	}
}
