package probe

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kafkabench.example/kafka-bench/internal/kafka/access"
)

// The requests of ten seconds, also those for the lag of two groups, are at most two per broker and second.
func TestTwoRequestsASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := &kfake.VirtualNetwork{}
		fake, err := kfake.NewCluster(kfake.NumBrokers(3), kfake.ListenFn(network.Listen), kfake.Ports(9092, 9093, 9094))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { time.Sleep(time.Minute) })
		t.Cleanup(fake.Close)
		if err := fake.CreateTopic("bills", 6, nil); err != nil {
			t.Fatal(err)
		}
		client, err := kgo.NewClient(kgo.SeedBrokers(fake.ListenAddrs()...), kgo.Dialer(network.DialContext), kgo.DisableClientMetrics())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(client.Close)
		var offsets kadm.Offsets
		for p := range int32(6) {
			offsets.AddOffset("bills", p, 0, -1)
		}
		groups := []string{"billing", "dunning"}
		for _, group := range groups {
			if err := kadm.NewClient(client).CommitAllOffsets(t.Context(), group, offsets); err != nil {
				t.Fatal(err)
			}
		}
		r, err := NewClusterReader(fake.ListenAddrs(), access.Access{Dial: network.DialContext}, groups)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		if _, err := r.ReadAll(t.Context()); err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		asked, kinds := map[int32]int{}, map[string]int{}
		fake.Control(func(req kmsg.Request) (kmsg.Response, error, bool) {
			fake.KeepControl()
			mu.Lock()
			defer mu.Unlock()
			asked[fake.CurrentNode()]++
			kinds[kmsg.NameForKey(req.Key())]++
			return nil, nil, false
		})
		lags := 0
		for range 10 {
			before := map[int32]int{}
			mu.Lock()
			for id, n := range asked {
				before[id] = n
			}
			mu.Unlock()
			for began := time.Now(); time.Since(began) < time.Second; time.Sleep(ClusterPeriod) {
				if r.Read(t.Context()).Lag != nil {
					lags++
				}
			}
			mu.Lock()
			for id, n := range asked {
				if n-before[id] > 2 {
					t.Errorf("broker %d got %d requests in a second: %v", id, n-before[id], kinds)
				}
			}
			mu.Unlock()
		}
		if lags != 5 || kinds["DescribeLogDirs"] != 15 || kinds["Metadata"] != 5 {
			t.Errorf("the lag was read %d times, and the requests are %v", lags, kinds)
		}
	})
}
