package plain

import (
	"log/slog"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"kafkabench.example/kafka-bench/kmq/internal/engine"
)

func BenchmarkReceiveAck(b *testing.B) {
	c, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(6, "t"),
		kfake.SyntheticFetch(kfake.SyntheticBatch{Records: 1000, RecordBytes: 100}))
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	e, err := New(b.Context(), engine.Config{
		Brokers: c.ListenAddrs(), Topic: "t", Group: "g", MaxInFlight: 1000, CommitEvery: time.Second,
		Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		b.Fatal(err)
	}
	defer e.Close(b.Context())
	take := func() int {
		leases, err := engine.Receive(b.Context(), e, 10)
		if err != nil {
			b.Fatal(err)
		}
		for _, l := range leases {
			if err := e.Ack(b.Context(), l); err != nil {
				b.Fatal(err)
			}
		}
		return len(leases)
	}
	take()
	b.ReportAllocs()
	b.ResetTimer()
	for done := 0; done < b.N; {
		done += take()
	}
}
