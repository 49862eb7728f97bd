//go:build full

package member

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/kafka/cluster/clustertest"
	"kafkabench.example/kafka-bench/kmq/internal/engine"
)

// TestFullMapsOnKafka commits more metadata than a coordinator takes in one batch, and again
// with a member that begins with larger requests than it takes.
func TestFullMapsOnKafka(t *testing.T) {
	const partitions, length = 260, 4096
	k := clustertest.Shared(t)
	name := fmt.Sprintf("maps-%d", time.Now().UnixNano())
	client, err := kgo.NewClient(append(cluster.AccessTo(k).Options(), kgo.SeedBrokers(k.Bootstrap()...))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	adm := kadm.NewClient(client)
	clustertest.Topic(t, k, name, partitions, 1, nil)
	t.Cleanup(func() { _, _ = adm.DeleteTopics(context.Background(), name) })
	r := newRecorder(1)
	m, err := Open(t.Context(), Config{
		Config: engine.Config{
			Brokers: k.Bootstrap(), Client: cluster.AccessTo(k).Options(), Topic: name, Group: name, MaxInFlight: 1,
			CommitEvery: time.Hour, Log: slog.New(slog.DiscardHandler),
		},
		Handler: r, Set: r.set,
	})
	if err != nil {
		t.Fatal(err)
	}
	p := &place{T: t}
	p.until("partitions", func() bool { return len(m.Owned()) == partitions })
	for i, most := range []int{mostMetadata, 4 * mostMetadata} {
		m.offsets.most = most
		metadata := strings.Repeat(fmt.Sprint(i), length)
		r.mu.Lock()
		r.metadata = metadata
		r.mu.Unlock()
		if err := m.Commit(t.Context()); err != nil {
			t.Errorf("with requests of %d bytes: %v", most, err)
		}
		if m.offsets.most > partitions*length/2 {
			t.Errorf("a request of %d bytes was taken: this test needs one that is not", partitions*length)
		}
		offsets, err := adm.FetchOffsets(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		committed := 0
		offsets.Each(func(o kadm.OffsetResponse) {
			if o.Metadata == metadata {
				committed++
			}
		})
		if committed != partitions {
			t.Errorf("with requests of %d bytes %d partitions are committed, of %d", most, committed, partitions)
		}
	}
	if err := m.Close(t.Context()); err != nil {
		t.Error(err)
	}
	r.set.Close()
}
