package offsetmap

import (
	"context"
	"encoding/binary"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/internal/kafka/cluster/clustertest"
	"kafkabench.example/kafka-bench/kmq/internal/engine"
	"kafkabench.example/kafka-bench/kmq/internal/lease"
	"kafkabench.example/kafka-bench/kmq/internal/plain"
)

func BenchmarkEngine(b *testing.B) {
	for _, order := range []string{"in order", "reversed"} {
		b.Run(order, func(b *testing.B) {
			cfg := testConfig()
			cfg.MaxInFlight = 1000
			w := newWorld(cfg, 4096)
			defer w.halt()
			w.assign(0)
			const poll = 1000
			b.ReportAllocs()
			for from := 0; from < b.N; from += poll {
				records := make([]*kgo.Record, poll)
				for i := range records {
					records[i] = &kgo.Record{Topic: testTopic, Offset: int64(from + i)}
				}
				if _, err := w.h.Begin(ctx, records); err != nil {
					b.Fatal(err)
				}
				for len(w.ready) > 0 {
					leases := w.receive(10)
					if order == "reversed" {
						slices.Reverse(leases)
					}
					for _, l := range leases {
						if err := w.Ack(ctx, l); err != nil {
							b.Fatal(err)
						}
					}
				}
				if from%(100*poll) == 0 {
					w.commitAll()
				}
			}
		})
	}
}

var engines = []struct {
	name string
	open func(context.Context, engine.Config) (engine.Engine, error)
}{
	{"plain", plain.New},
	{"offsetmap", New},
}

// BenchmarkDrain reports medians of records/s and of CPU time for each record. Run it with -benchtime=5x.
func BenchmarkDrain(b *testing.B) {
	const records = 2_000_000
	k := clustertest.Own(b, 1, nil)
	prepare(b, k, "filled", 8, records)
	for _, inFlight := range []int{1000, 10_000} {
		b.Run(fmt.Sprint(inFlight), func(b *testing.B) {
			perSecond, cpu := map[string][]float64{}, map[string][]float64{}
			for i := range b.N { // interleaved, so that other load affects both
				for j := range engines {
					e := engines[(i+j)%len(engines)]
					cfg := kafkaConfig(k, "filled")
					cfg.Group = fmt.Sprint(e.name, inFlight, "-", i, "-", b.N)
					cfg.MaxInFlight, cfg.CommitEvery = inFlight, time.Second
					opened, err := e.open(ctx, cfg)
					if err != nil {
						b.Fatal(err)
					}
					before := cpuTime(b)
					perSecond[e.name] = append(perSecond[e.name], drainAll(b, opened, records))
					cpu[e.name] = append(cpu[e.name], float64(cpuTime(b)-before)/records)
				}
			}
			for _, e := range engines {
				b.ReportMetric(median(perSecond[e.name]), e.name+"/s")
				b.ReportMetric(median(cpu[e.name]), e.name+"-cpu-ns")
			}
		})
	}
}

// BenchmarkBesidePlain measures the CPU time in ns of a record in both engines, and the ratio plain/offsetmap. An
// in-process broker is part of both times. Run it with -benchtime=9x.
func BenchmarkBesidePlain(b *testing.B) {
	const warmUp, records = 200_000, 1_000_000
	c, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(12, "filled"),
		kfake.SyntheticFetch(kfake.SyntheticBatch{Records: 1000, RecordBytes: 100}))
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	for _, inFlight := range []int{1000, 100_000} {
		b.Run(fmt.Sprint(inFlight), func(b *testing.B) {
			cpu := map[string][]float64{}
			var ratios []float64
			for i := range b.N {
				once := map[string]float64{}
				for j := range engines {
					e := engines[(i+j)%len(engines)]
					cfg := configOn(c.ListenAddrs(), "filled")
					cfg.Group = fmt.Sprint(e.name, inFlight, "-", i, "-", b.N)
					cfg.MaxInFlight, cfg.CommitEvery = inFlight, time.Second
					opened, err := e.open(ctx, cfg)
					if err != nil {
						b.Fatal(err)
					}
					take(b, opened, warmUp)
					runtime.GC()
					before := cpuTime(b)
					taken := take(b, opened, records)
					once[e.name] = float64(cpuTime(b)-before) / float64(taken)
					if err := opened.Close(ctx); err != nil {
						b.Fatal(err)
					}
					cpu[e.name] = append(cpu[e.name], once[e.name])
				}
				ratios = append(ratios, once["plain"]/once["offsetmap"])
			}
			for _, e := range engines {
				b.ReportMetric(median(cpu[e.name]), e.name+"-cpu-ns")
			}
			b.ReportMetric(median(ratios), "plain/offsetmap")
		})
	}
}

// take acknowledges at least the given number of records and returns how many.
func take(b *testing.B, e engine.Engine, records int64) int64 {
	var acked atomic.Int64
	var workers sync.WaitGroup
	for range 5 {
		workers.Go(func() {
			for acked.Load() < records {
				leases, err := engine.Receive(ctx, e, 10)
				if err != nil {
					b.Error(err)
					return
				}
				for _, l := range leases {
					if err := e.Ack(ctx, l); err != nil {
						b.Error(err)
					}
				}
				acked.Add(int64(len(leases)))
			}
		})
	}
	workers.Wait()
	return acked.Load()
}

func median(of []float64) float64 {
	slices.Sort(of)
	return of[len(of)/2]
}

func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func drainAll(b *testing.B, e engine.Engine, records int64) float64 {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	var acked atomic.Int64
	var start sync.Once
	var started time.Time
	var workers sync.WaitGroup
	for range 25 {
		workers.Go(func() {
			for ctx.Err() == nil {
				leases, err := engine.Receive(ctx, e, 10)
				if err != nil {
					return
				}
				start.Do(func() { started = time.Now() })
				for _, l := range leases {
					if err := e.Ack(ctx, l); err != nil {
						b.Error(err)
					}
				}
				if acked.Add(int64(len(leases))) >= records {
					cancel()
				}
			}
		})
	}
	workers.Wait()
	elapsed := time.Since(started)
	if acked.Load() != records {
		b.Fatalf("%d of %d acknowledged", acked.Load(), records)
	}
	if err := e.Close(context.Background()); err != nil {
		b.Fatal(err)
	}
	return float64(records) / elapsed.Seconds()
}

// BenchmarkEndToEnd produces 2,000 records/s, open loop, and reports the median and the 99th percentile over 10 s. Run
// it with -benchtime=1x.
func BenchmarkEndToEnd(b *testing.B) {
	k := clustertest.Own(b, 1, nil)
	for i := range b.N {
		for _, e := range engines {
			topic := fmt.Sprint("paced-", e.name, i, "-", b.N)
			cl := prepare(b, k, topic, 4, 0)
			cfg := kafkaConfig(k, topic)
			cfg.MaxInFlight = 1000
			opened, err := e.open(ctx, cfg)
			if err != nil {
				b.Fatal(err)
			}
			times := endToEnd(b, opened, cl, topic)
			b.ReportMetric(float64(times[len(times)/2].Microseconds()), e.name+"-p50-µs")
			b.ReportMetric(float64(times[len(times)*99/100].Microseconds()), e.name+"-p99-µs")
		}
	}
}

func endToEnd(b *testing.B, e engine.Engine, cl *kgo.Client, topic string) []time.Duration {
	const perSecond, warmUp, records = 2000, 14_000, 34_000
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	epoch := time.Now()
	var producing sync.WaitGroup
	producing.Go(func() {
		for i := range records {
			due := time.Duration(i) * time.Second / perSecond
			if wait := due - time.Since(epoch); wait > 0 {
				time.Sleep(wait)
			}
			stamp := binary.BigEndian.AppendUint64(nil, uint64(time.Since(epoch)))
			cl.Produce(ctx, &kgo.Record{Topic: topic, Partition: int32(i % 4), Value: stamp}, nil)
		}
	})
	var mu sync.Mutex
	var times []time.Duration
	seen := 0
	var workers sync.WaitGroup
	for range 4 {
		workers.Go(func() {
			for ctx.Err() == nil {
				leases, err := engine.Receive(ctx, e, 10)
				if err != nil {
					return
				}
				now := time.Since(epoch)
				mu.Lock()
				for _, l := range leases {
					if seen++; seen > warmUp {
						times = append(times, now-stampOf(l))
					}
				}
				if seen == records {
					cancel()
				}
				mu.Unlock()
				for _, l := range leases {
					_ = e.Ack(ctx, l)
				}
			}
		})
	}
	producing.Wait()
	workers.Wait()
	if seen != records {
		b.Fatalf("%d of %d received", seen, records)
	}
	if err := e.Close(context.Background()); err != nil {
		b.Fatal(err)
	}
	slices.Sort(times)
	return times
}

func stampOf(l *lease.Lease) time.Duration {
	return time.Duration(binary.BigEndian.Uint64(l.Record.Value))
}
