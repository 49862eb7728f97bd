package kmq_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/internal/project/virtual"
	"kafkabench.example/kafka-bench/kmq"
)

// retrying is a cluster with the topic orders, and what groups have received of it.
type retrying struct {
	*testing.T
	cluster *virtual.Cluster
	client  *kgo.Client
	stop    context.CancelFunc
	ctx     context.Context
	groups  sync.WaitGroup
}

func newRetrying(t *testing.T, partitions int32) *retrying {
	c := virtual.Start(t, virtual.Options{})
	c.Topic(t, "orders", partitions)
	ctx, stop := context.WithCancel(t.Context())
	r := &retrying{T: t, cluster: c, client: c.NewClient(t), ctx: ctx, stop: stop}
	t.Cleanup(r.end)
	return r
}

func (r *retrying) end() {
	r.stop()
	r.groups.Wait()
}

func (r *retrying) produce(key string, n int) {
	r.Helper()
	value := strconv.Itoa(n)
	if err := r.client.ProduceSync(r.ctx, &kgo.Record{Topic: "orders", Key: []byte(key), Value: []byte(value)}).FirstErr(); err != nil {
		r.Fatal(err)
	}
}

// handle runs a group until the test ends.
func (r *retrying) handle(cfg kmq.Config, handle kmq.Handler) *kmq.Queue {
	r.Helper()
	cfg.Brokers, cfg.Topic, cfg.Client, cfg.Logger = r.cluster.Bootstrap(), "orders", r.cluster.Client(), slog.New(slog.DiscardHandler)
	q, err := kmq.Open(r.ctx, cfg)
	if err != nil {
		r.Fatal(err)
	}
	r.groups.Go(func() {
		if err := q.Run(r.ctx, handle, kmq.RunConfig{}); err != nil {
			r.Error(err)
		}
		if err := q.Close(context.Background()); err != nil {
			r.Error(err)
		}
	})
	return q
}

// produced returns how many records a topic has ever got.
func (r *retrying) produced(topic string) (n int64) {
	r.Helper()
	ends, err := kadm.NewClient(r.client).ListEndOffsets(context.Background(), topic)
	if err != nil {
		r.Fatal(err)
	}
	ends.Each(func(o kadm.ListedOffset) { n += o.Offset })
	return n
}

// draw runs a property in virtual time with several seeds.
func draw(t *testing.T, holds func(*testing.T, *rand.Rand)) {
	seeds := uint64(3)
	if !testing.Short() {
		seeds = 50
	}
	for seed := range seeds {
		synctest.Test(t, func(t *testing.T) { holds(t, rand.New(rand.NewPCG(seed, 42))) })
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// drawn returns n of the values.
func drawn(random *rand.Rand, n int, of ...int) (all []int) {
	for range n {
		all = append(all, of[random.IntN(len(of))])
	}
	return all
}

func numberOf(d kmq.Delivery) int {
	n, _ := strconv.Atoi(string(d.Record.Value))
	return n
}

var errNoRoute = errors.New("no route to the bank")

// N4: ten records a second, of which every fourth fails always. Before, records in backoff held MaxInFlight, and after
// seven minutes good ones waited for 10 to 57 s.
func TestWhatFailsDelaysNoOthers(t *testing.T) {
	for _, order := range []kmq.Order{kmq.Unordered, kmq.ByKey} {
		t.Run(string(order), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := newRetrying(t, 4)
				var mu sync.Mutex
				longest, good := time.Duration(0), 0
				r.handle(kmq.Config{Group: "billing", Engine: kmq.OffsetMap{}, Order: order, MaxInFlight: 20}, func(_ context.Context, d kmq.Delivery) error {
					if numberOf(d)%4 == 0 {
						return errNoRoute
					}
					mu.Lock()
					defer mu.Unlock()
					good++
					longest = max(longest, time.Since(d.Record.Timestamp))
					return nil
				})
				time.Sleep(5 * time.Second) // the group's first assignment
				for n := range 7 * 60 * 10 {
					r.produce(strconv.Itoa(n%400), n)
					time.Sleep(100 * time.Millisecond)
				}
				time.Sleep(time.Second)
				mu.Lock()
				defer mu.Unlock()
				if good != 7*60*10*3/4 || longest > time.Second {
					t.Errorf("%d good records, the longest wait was %v", good, longest)
				}
			})
		})
	}
}

// N2: billing fails one order ten times, and shipping gets it once. Before, shipping got it ten times (markers) or four
// times (offset map). Two groups that failed one record doubled the topic each minute.
func TestGroupsAreIndependent(t *testing.T) {
	for _, engine := range []kmq.Engine{kmq.OffsetMap{}, kmq.Markers{}} {
		t.Run(engine.String(), func(t *testing.T) {
			draw(t, func(t *testing.T, random *rand.Rand) {
				fails := map[string][]int{} // how often each record fails
				groups := []string{"billing", "shipping"}
				for _, g := range groups {
					fails[g] = drawn(random, 8, 0, 0, 0, 1, 3, 10)
				}
				independent(t, engine, groups, fails, random.IntN(2) == 0)
			})
		})
	}
}

func independent(t *testing.T, engine kmq.Engine, groups []string, fails map[string][]int, long bool) {
	r := newRetrying(t, 2)
	var mu sync.Mutex
	got := map[string]map[int]int{}
	for _, g := range groups {
		got[g] = map[int]int{}
		cfg := kmq.Config{Group: g, Engine: engine}
		if long {
			cfg.Retry = kmq.Exponential(2*time.Minute, 3*time.Minute)
		}
		r.handle(cfg, func(_ context.Context, d kmq.Delivery) error {
			mu.Lock()
			defer mu.Unlock()
			n := numberOf(d)
			if got[g][n]++; got[g][n] <= fails[g][n] {
				return errNoRoute
			}
			return nil
		})
	}
	for n := range 8 {
		r.produce(strconv.Itoa(n), n)
	}
	all := func() bool {
		mu.Lock()
		defer mu.Unlock()
		for _, g := range groups {
			for n, fail := range fails[g] {
				if got[g][n] < min(fail+1, 10) {
					return false
				}
			}
		}
		return true
	}
	for minutes := 0; !all() && minutes < 180; minutes++ {
		time.Sleep(time.Minute)
	}
	time.Sleep(2 * time.Minute) // nothing more comes
	for _, g := range groups {
		dead := 0
		for n, fail := range fails[g] {
			if want := min(fail+1, 10); got[g][n] != want {
				t.Errorf("%s got record %d %d times, want %d", g, n, got[g][n], want)
			}
			if fail >= 10 {
				dead++
			}
		}
		if n := r.produced("orders." + g + ".dead"); n != int64(dead) {
			t.Errorf("%s has %d dead letters, want %d", g, n, dead)
		}
	}
	if n := r.produced("orders"); n != 8 {
		t.Errorf("the topic has %d records, 8 were produced", n)
	}
	r.end()
}

// A key with an open earlier record begins no later one, however often that fails, and holds up no other key.
func TestAKeyKeepsItsOrderOverRetries(t *testing.T) {
	for _, order := range []kmq.Order{kmq.ByKey, kmq.ByPartition} {
		t.Run(string(order), func(t *testing.T) {
			draw(t, func(t *testing.T, random *rand.Rand) {
				ordered(t, order, drawn(random, 60, 0, 0, 1, 2, 4, 9, 10), drawn(random, 1, 1, 1000)[0])
			})
		})
	}
}

func ordered(t *testing.T, order kmq.Order, fails []int, bytes int) {
	r := newRetrying(t, 2)
	var mu sync.Mutex
	var log strings.Builder
	tries, ended := map[int]int{}, map[string]int{} // the number of a line's last ended record
	last := map[string]int{}
	cfg := kmq.Config{Group: "billing", Engine: kmq.OffsetMap{RetryBytes: bytes}, Order: order, MaxInFlight: 5}
	q := r.handle(cfg, func(_ context.Context, d kmq.Delivery) error {
		n, line := numberOf(d), string(d.Record.Key)
		if order == kmq.ByPartition {
			line = fmt.Sprint(d.ID().Partition)
		}
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintf(&log, "%s:%d ", line, n)
		if n < last[line] {
			t.Errorf("%d of line %s came after %d: %s", n, line, last[line], log.String())
		}
		if n != last[line] && ended[line] != last[line] {
			t.Errorf("%d of line %s began before %d had ended: %s", n, line, last[line], log.String())
		}
		last[line] = n
		if tries[n]++; tries[n] <= fails[n-1] {
			if tries[n] == 10 {
				ended[line] = n // a dead letter
			}
			return errNoRoute
		}
		ended[line] = n
		return nil
	})
	for n := range fails {
		r.produce(strconv.Itoa(n%3), n+1)
	}
	for range 60 { // a partition's records may all fail, one after another
		time.Sleep(5 * time.Minute)
		if s := q.Stats(); s.CommitBehind == 0 {
			break
		}
	}
	mu.Lock()
	defer mu.Unlock()
	for n, fail := range fails {
		if want := min(fail+1, 10); tries[n+1] != want {
			t.Errorf("record %d came %d times, want %d", n+1, tries[n+1], want)
		}
	}
	if s := q.Stats(); s.InFlight != 0 || s.Waiting != 0 || s.CommitBehind != 0 {
		t.Errorf("%d in flight, %d wait, %d behind", s.InFlight, s.Waiting, s.CommitBehind)
	}
	r.end()
}

// What a queue logs of its retry topic has numbers of partitions that exist.
func TestPartitionsInTheLog(t *testing.T) {
	for _, engine := range []kmq.Engine{kmq.OffsetMap{InPlace: 1}, kmq.Markers{}} {
		t.Run(engine.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRetrying(t, 2)
				var log virtual.Log
				q, err := kmq.Open(r.ctx, kmq.Config{
					Brokers: r.cluster.Bootstrap(), Topic: "orders", Group: "billing", Client: r.cluster.Client(), Engine: engine, MaxDeliveries: 3,
					Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
				})
				must(t, err)
				r.groups.Go(func() {
					must(t, q.Run(r.ctx, func(ctx context.Context, d kmq.Delivery) error {
						if d.Attempt() == 3 {
							must(t, d.Nack(ctx, 0))
							panic("oh")
						}
						time.Sleep(time.Minute) // it is too late
						panic("no")
					}, kmq.RunConfig{Timeout: 10 * time.Second}))
					must(t, q.Close(context.Background()))
				})
				r.produce("key", 1)
				time.Sleep(time.Hour)
				r.end()
				if said := log.String(); strings.Contains(said, "artition=-") || strings.Contains(said, "artition -") || !strings.Contains(said, "panicked") {
					t.Error(said)
				}
			})
		})
	}
}
