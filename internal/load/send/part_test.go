package send

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/measure/ledger"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
	"kafkabench.example/kafka-bench/internal/plan/arrival"
	"kafkabench.example/kafka-bench/internal/plan/payload"
)

type named struct {
	driver.Driver
	clients *[]string
}

func (n named) NewProducer(cfg driver.ProducerConfig) (driver.Producer, error) {
	*n.clients = append(*n.clients, cfg.ClientID)
	return n.Driver.NewProducer(cfg)
}

// Parts have their own axes and run at the same time, like processes.
func offered(t *testing.T, change func(*Config), parts ...[]int) (records, clients []string, end int64, books int64) {
	inBubble(t, 1000, func(b *bench) { b.cfg.Workers = 0 }, func(t *testing.T, b *bench) {
		cfg := b.cfg
		cfg.Workers, cfg.Driver, cfg.Client.ClientID = 7, named{b.kafka, &clients}, "run"
		change(&cfg)
		var all []*Producers
		b.axis.Set(time.Second, 2*time.Second)
		for _, part := range parts {
			cfg.Only, cfg.Axis = part, newAxis()
			if part == nil {
				cfg.Axis = b.axis
			}
			ps, err := Open(cfg)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, ps)
			cfg.Axis.Adopt(b.axis.Zero())
		}
		for _, ps := range all {
			ps.Start()
		}
		var spending []snapshot.Spending
		for _, ps := range all {
			<-ps.Done()
			if ps.Spent() != nil {
				<-ps.Spent()
				spending = append(spending, ps.Spending())
			}
			ps.Close()
			_, measured := ps.Sent()
			books += measured.Acked
		}
		end = b.axis.End()
		for i, ps := range all {
			if parts[i] != nil && ps.axis.End() != int64(2*time.Second) {
				t.Errorf("part %d has ended the window, of which it knows a part alone", i)
			}
		}
		if len(parts) > 1 && len(spending) > 0 {
			whole := spending[0]
			for _, s := range spending[1:] {
				whole = whole.Merge(s)
			}
			end = whole.End()
		}
		for _, r := range b.kafka.produced {
			stamp, check := payload.ReadStamp(r.Value)
			if check != payload.Intact {
				t.Fatal("a record is not intact")
			}
			records = append(records, fmt.Sprintf("%d/%d/%d at %d: %q %x",
				stamp.Producer, stamp.Partition, stamp.Sequence, stamp.Intended, r.Key, r.Value[payload.StampSize:]))
		}
	})
	slices.Sort(records)
	slices.Sort(clients)
	return records, clients, end, books
}

func TestPartsOfferWhatTheWholeDoes(t *testing.T) {
	for name, change := range map[string]func(*Config){
		"round-robin": func(*Config) {},
		"keys of a poisson process": func(cfg *Config) {
			process, err := arrival.Poisson(perSecond(1000), 9)
			if err != nil {
				t.Fatal(err)
			}
			keys, err := payload.NewKeys(payload.KeySpec{Distribution: "zipf", Count: 50, Skew: 1.1, Seed: 3})
			if err != nil {
				t.Fatal(err)
			}
			cfg.Arrivals, cfg.Keys, cfg.Partitioning = arrival.WithWarmup(time.Second, process), keys, "key"
		},
		"shared clients": func(cfg *Config) { cfg.Clients = 3 },
		"many clients":   func(cfg *Config) { cfg.Clients = 15 },
		"a volume":       func(cfg *Config) { cfg.Volume = 50_001 },
		"records":        func(cfg *Config) { cfg.Records = 501 },
	} {
		t.Run(name, func(t *testing.T) {
			records, clients, end, acked := offered(t, change, nil)
			apart, theirs, theirEnd, theirAcked := offered(t, change, []int{0, 3, 6}, []int{1, 4}, []int{2, 5})
			if len(records) < 1500 || !slices.Equal(records, apart) {
				t.Errorf("the whole offered %d records, its parts %d, or others", len(records), len(apart))
			}
			if !slices.Equal(clients, theirs) {
				t.Errorf("the clients of the whole are %q, of its parts %q", clients, theirs)
			}
			if end != theirEnd || acked != theirAcked {
				t.Errorf("the window of the whole ends at %d with %d acked, that of its parts at %d with %d", end, acked, theirEnd, theirAcked)
			}
		})
	}
}

func TestBehindOfParts(t *testing.T) {
	inBubble(t, 1000, func(b *bench) { b.cfg.Consumed = true }, func(t *testing.T, b *bench) {
		cfg := b.cfg
		cfg.Only = []int{1}
		part, err := Open(cfg)
		if err != nil {
			t.Fatal(err)
		}
		b.axis.Set(0, time.Second)
		b.ps.Start()
		part.Start()
		time.Sleep(500 * time.Millisecond)
		next := make([][]ledger.Awaited, 4)
		for p, of := range [][2]uint64{{0, 0}, {0, 3}, {9, 9}, {1 << 40, 1 << 40}} {
			next[p] = []ledger.Awaited{{Next: of[0]}, {Next: of[1]}}
		}
		whole, half := b.ps.Behind(next), part.Behind(next)
		others := snapshot.NewBehind(make([]int64, 4))
		others.WaitingRecords, others.WaitingDueNs = 2, 5
		sum := half.Merge(others)
		if sum.OldestDueNs[3] != snapshot.NothingDue || whole.OldestDueNs[3] != snapshot.NothingDue || whole.OpenRecords[3] != 0 {
			t.Error("something is due in a partition where everything arrived")
		}
		if half.OpenRecords[1] >= half.OpenRecords[0] || half.OpenRecords[2] >= half.OpenRecords[1] || whole.OpenRecords[0] <= half.OpenRecords[0] || sum.OpenRecords[0] != half.OpenRecords[0] {
			t.Errorf("open are %d of the whole, %d of a part", whole.OpenRecords, half.OpenRecords)
		}
		for p := range 3 {
			if whole.OldestDueNs[p] > half.OldestDueNs[p] || half.OldestDueNs[p] != sum.OldestDueNs[p] || whole.AckedIn[p] < sum.AckedIn[p] || sum.AckedIn[p] == 0 {
				t.Errorf("partition %d: the whole %d, %d acked; a part %d, %d acked", p, whole.OldestDueNs[p], whole.AckedIn[p], sum.OldestDueNs[p], sum.AckedIn[p])
			}
		}
		// In partition 1, the first three records of worker 1 have arrived, 8 ms apart.
		if later := time.Duration(half.OldestDueNs[1] - half.OldestDueNs[0]); later < 16*time.Millisecond || later > 40*time.Millisecond {
			t.Errorf("what did not arrive was due %v later where three records more did", later)
		}
		if sum.WaitingRecords != half.WaitingRecords+2 || half.WaitingRecords == 0 && sum.WaitingDueNs != 5 {
			t.Errorf("%d wait since %d", sum.WaitingRecords, sum.WaitingDueNs)
		}
		b.ps.Close()
		part.Close()
	})
}
