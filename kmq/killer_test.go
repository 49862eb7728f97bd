package kmq_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/project/virtual"
	"kafkabench.example/kafka-bench/kmq"
)

// killing is a queue one record of which ends the process.
type killing struct {
	*testing.T
	on     *virtual.Cluster
	cfg    kmq.Config
	adm    *kadm.Client
	killer int64

	mu         sync.Mutex
	deliveries map[int64]int
	done       map[int64]int
}

// process handles records until all are settled, or until the killer cuts its connections, which is a crash to the
// cluster.
func (k *killing) process(records int64) (killed bool) {
	k.Helper()
	over, end := context.WithCancel(k.Context())
	defer end()
	var mu sync.Mutex
	var lines []net.Conn
	under := cluster.AccessTo(k.on).Dialer(0)
	cfg := k.cfg
	dial := func(ctx context.Context, network, address string) (net.Conn, error) {
		mu.Lock()
		defer mu.Unlock()
		if killed {
			return nil, errors.New("the process is dead")
		}
		c, err := under(ctx, network, address)
		lines = append(lines, c)
		return c, err
	}
	cfg.Client = append(cfg.Client[:len(cfg.Client):len(cfg.Client)], kgo.Dialer(dial))
	q, err := kmq.Open(k.Context(), cfg)
	if err != nil {
		k.Fatal(err)
	}
	go func() {
		for over.Err() == nil && k.committed() < records {
			time.Sleep(time.Second)
		}
		end()
	}()
	err = q.Run(over, func(ctx context.Context, d kmq.Delivery) error {
		k.mu.Lock()
		k.deliveries[d.ID().Offset]++
		k.mu.Unlock()
		if d.ID().Offset == k.killer {
			time.Sleep(200 * time.Millisecond)
			mu.Lock()
			killed = true
			for _, c := range lines {
				_ = c.Close()
			}
			mu.Unlock()
			end()
		}
		select {
		case <-time.After(10 * time.Second):
		case <-over.Done():
			return over.Err()
		}
		k.mu.Lock()
		defer k.mu.Unlock()
		k.done[d.ID().Offset]++
		return nil
	}, kmq.RunConfig{Workers: 50, Shutdown: time.Millisecond})
	if err != nil {
		k.Errorf("run: %v", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := q.Close(ctx); err != nil && !killed {
		k.Errorf("close: %v", err)
	}
	return killed
}

func (k *killing) committed() int64 {
	offsets, err := k.adm.FetchOffsets(k.Context(), k.cfg.Group)
	if err != nil {
		return -1
	}
	at, _ := offsets.Lookup(k.cfg.Topic, 0)
	return at.At
}

// A record kills each process that handles it, within CommitEvery, while 49 others are handled. It becomes a dead
// letter after at most MaxDeliveries + 1 deliveries, and no other record does.
func TestAProcessKiller(t *testing.T) {
	for _, most := range []int{1, 2, 5} {
		t.Run(fmt.Sprint(most), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const records = 60
				c := virtual.Start(t, virtual.Options{})
				c.Topic(t, "orders", 1)
				client := c.NewClient(t)
				for n := range records {
					r := &kgo.Record{Topic: "orders", Value: fmt.Append(nil, n)}
					if err := client.ProduceSync(t.Context(), r).FirstErr(); err != nil {
						t.Fatal(err)
					}
				}
				k := &killing{T: t, on: c, adm: kadm.NewClient(client), killer: 20}
				k.deliveries, k.done = map[int64]int{}, map[int64]int{}
				k.cfg = kmq.Config{
					Brokers: c.Bootstrap(), Client: c.Client(), Topic: "orders", Group: "billing", Engine: kmq.OffsetMap{},
					MaxDeliveries: most, Visibility: 30 * time.Second, SessionTimeout: 6 * time.Second,
				}
				processes := 1
				for ; k.process(records); processes++ {
					if processes > 2*most+5 {
						t.Fatalf("%d processes have died", processes)
					}
				}
				if n := k.deliveries[k.killer]; n > most+1 || n < most {
					t.Errorf("the killer was delivered %d times", n)
				}
				for offset := range int64(records) {
					if offset != k.killer && k.done[offset] == 0 {
						t.Errorf("record %d was never handled", offset)
					}
				}
				client.AddConsumeTopics("orders.billing.dead")
				fetches := client.PollFetches(t.Context())
				if dead := fetches.Records(); len(dead) != 1 || string(dead[0].Value) != "20" {
					t.Errorf("dead letters: %v", dead)
				}
			})
		})
	}
}
