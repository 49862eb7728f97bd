package markers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/kafka/cluster/clustertest"
	"kafkabench.example/kafka-bench/kmq/internal/engine"
	"kafkabench.example/kafka-bench/kmq/internal/lease"
	"kafkabench.example/kafka-bench/kmq/internal/plain"
)

// BenchmarkDrain empties a filled topic, by this engine and by the baseline, on a broker in
// this process (which shares its processors, and has everything in memory) and on Apache
// Kafka. The figure to look at is records/s.
func BenchmarkDrain(b *testing.B) {
	b.Run("fake", func(b *testing.B) {
		c, err := cluster.StartEmbedded(cluster.EmbeddedOptions{Config: shortSessions})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = c.Stop(context.Background()) })
		drains(b, func() *world { return onCluster(b, c, 8) })
	})
	b.Run("kafka", func(b *testing.B) {
		k := clustertest.Own(b, 1, nil)
		drains(b, func() *world { return onCluster(b, k, 8) })
	})
}

func drains(b *testing.B, open func() *world) {
	w := open()
	w.cfg.CommitEvery = time.Second
	const partitions, records = 8, 2_000_000
	for p := range int32(partitions) {
		w.fill(p, records/partitions)
	}
	engines := []struct {
		name string
		open func(context.Context, engine.Config) (engine.Engine, error)
	}{{"plain", plain.New}, {"markers", New}}
	for _, inFlight := range []int{1000, 10_000, 100_000} {
		for _, e := range engines {
			b.Run(fmt.Sprintf("in-flight=%d/%s", inFlight, e.name), func(b *testing.B) {
				n, cpu := 0, time.Duration(0)
				for b.Loop() {
					n++
					cfg := w.cfg
					cfg.Group = fmt.Sprintf("%s-%s-%d-%d", cfg.Group, e.name, inFlight, time.Now().UnixNano())
					cfg.MarkersTopic = cfg.Group + "-markers"
					cfg.MaxInFlight = inFlight
					if e.name == "plain" {
						cfg.Visibility = 0
					}
					b.StopTimer()
					q, err := e.open(w.ctx, cfg)
					if err != nil {
						b.Fatal(err)
					}
					first, err := engine.Receive(w.ctx, q, 1) // joined, and fetching
					if err != nil {
						b.Fatal(err)
					}
					_ = q.Ack(w.ctx, first[0])
					b.StartTimer()
					used := processor()
					w.drain(q, records-1)
					b.StopTimer()
					cpu += processor() - used
					_ = q.Close(w.ctx)
					b.StartTimer()
				}
				b.ReportMetric(float64(n*records)/b.Elapsed().Seconds(), "records/s")
				b.ReportMetric(float64(cpu.Nanoseconds())/float64(n*records), "cpu-ns/record")
			})
		}
	}
}

// processor is the time that the process has had of the processors. On a busy machine it
// is the better measure.
func processor() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// fill writes n records of 100 bytes.
func (w *world) fill(partition int32, n int) {
	w.Helper()
	cl := w.newClient(kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.MaxBufferedRecords(n+1),
		kgo.ProducerBatchCompression(kgo.NoCompression()))
	defer cl.Close()
	value := make([]byte, 100)
	var failed atomic.Pointer[error]
	for range n {
		cl.Produce(w.ctx, &kgo.Record{Topic: w.cfg.Topic, Partition: partition, Value: value}, func(_ *kgo.Record, err error) {
			if err != nil {
				failed.Store(&err)
			}
		})
	}
	if err := cl.Flush(w.ctx); err != nil {
		w.Fatal(err)
	}
	if err := failed.Load(); err != nil {
		w.Fatal(*err)
	}
}

// drain receives and acknowledges n records by 25 goroutines, in batches of 10.
func (w *world) drain(q engine.Engine, n int64) {
	ctx, cancel := context.WithCancel(w.ctx)
	defer cancel()
	var left atomic.Int64
	left.Store(n)
	var work sync.WaitGroup
	for range 25 {
		work.Go(func() {
			for {
				ls, err := engine.Receive(ctx, q, 10)
				if err != nil {
					return
				}
				for _, l := range ls {
					if err := q.Ack(w.ctx, l); err != nil && !errors.Is(err, lease.ErrExpired) {
						w.Errorf("ack: %v", err)
					}
				}
				if left.Add(-int64(len(ls))) <= 0 {
					cancel()
				}
			}
		})
	}
	work.Wait()
	if err := q.Flush(w.ctx); err != nil {
		w.Errorf("flush: %v", err)
	}
}

// BenchmarkRedelivery drops half of the records and reports how late the others come.
func BenchmarkRedelivery(b *testing.B) {
	k := clustertest.Own(b, 1, nil)
	w := onCluster(b, k, 8, visible(2*time.Second), func(c *engine.Config) { c.MaxInFlight = 100_000 })
	q := w.open()
	const records = 20_000
	for b.Loop() {
		for p := range int32(8) {
			w.fill(p, records/8)
		}
		var late []time.Duration
		deadlines := map[lease.ID]time.Time{}
		for settled := 0; settled < records; {
			ls, err := engine.Receive(w.ctx, q, 100)
			if err != nil {
				b.Fatal(err)
			}
			now := time.Now()
			for _, l := range ls {
				if was, again := deadlines[l.Origin()]; again {
					late = append(late, now.Sub(was))
				}
				if l.Origin().Offset%2 == 0 && l.Attempt < 3 {
					deadlines[l.Origin()] = l.Deadline()
					continue
				}
				if q.Ack(w.ctx, l) == nil {
					settled++
				}
			}
		}
		slices.Sort(late)
		if late[0] < 0 {
			b.Errorf("%v early", -late[0])
		}
		b.ReportMetric(float64(late[len(late)/2].Microseconds())/1000, "late-p50-ms")
		b.ReportMetric(float64(late[len(late)*99/100].Microseconds())/1000, "late-p99-ms")
		h := q.Counts().Lateness
		copied := int64(0)
		for _, n := range h.Counts {
			copied += n
		}
		b.ReportMetric(h.Sum.Seconds()*1000/float64(copied), "copied-late-mean-ms")
		b.Logf("copied late: %v of %v", h.Counts, engine.Bounds)
	}
}
