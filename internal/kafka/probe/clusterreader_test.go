package probe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"kafkabench.example/kafka-bench/internal/kafka/access"
	"kafkabench.example/kafka-bench/internal/kafka/guard"
)

// The requests of ten seconds, also those for the lag of two groups, are at most two per broker and second.
func TestTwoRequestsASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake, network := virtualCluster(t, 3)
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
		r := virtualReader(t, fake, network, groups)
		var mu sync.Mutex
		asked, kinds := map[int32]int{}, map[string]int{}
		fake.Control(func(req kmsg.Request) (kmsg.Response, error, bool) {
			fake.KeepControl()
			mu.Lock()
			defer mu.Unlock()
			asked[fake.CurrentNode()]++
			kinds[kmsg.NameForKey(req.Key())]++
			if req.Key() != int16(kmsg.DescribeLogDirs) {
				return nil, nil, false
			}
			resp, dir := req.ResponseKind().(*kmsg.DescribeLogDirsResponse), kmsg.NewDescribeLogDirsResponseDir()
			dir.TotalBytes, dir.UsableBytes = 1000, 500
			resp.Dirs = append(resp.Dirs, dir)
			return resp, nil, true
		})
		if _, err := r.ReadAll(t.Context()); err != nil {
			t.Fatal(err)
		}
		clear(asked)
		clear(kinds)
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

func virtualCluster(t *testing.T, brokers int, opts ...kfake.Opt) (*kfake.Cluster, *kfake.VirtualNetwork) {
	t.Helper()
	network := &kfake.VirtualNetwork{}
	ports := []int{9092, 9093, 9094}[:brokers]
	fake, err := kfake.NewCluster(append(opts, kfake.NumBrokers(brokers), kfake.ListenFn(network.Listen), kfake.Ports(ports...))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { time.Sleep(time.Minute) })
	t.Cleanup(fake.Close)
	return fake, network
}

func virtualReader(t *testing.T, fake *kfake.Cluster, network *kfake.VirtualNetwork, groups []string) *ClusterReader {
	t.Helper()
	r, err := NewClusterReader(fake.ListenAddrs(), access.Access{Dial: network.DialContext}, groups)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r
}

// Brokers that do not know DescribeLogDirs are asked for something else, and seem neither silent nor gone.
func TestBrokersWithoutDescribeLogDirs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		known := kversion.Stable()
		known.SetMaxKeyVersion(int16(kmsg.DescribeLogDirs), -1)
		fake, network := virtualCluster(t, 2, kfake.MaxVersions(known))
		r := virtualReader(t, fake, network, nil)
		before, err := r.ReadAll(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		w := guard.New(before, guard.Limits{Brokers: true})
		for range 60 {
			time.Sleep(ClusterPeriod)
			o := r.Read(t.Context())
			if reason := w.Look(o); reason != "" || len(o.Refused) > 0 {
				t.Fatalf("after %v: %q, refused by %v", o.At, reason, o.Refused)
			}
		}
	})
}

func TestRefuses(t *testing.T) {
	dial := &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	for _, test := range []struct {
		err  error
		want bool
	}{
		{dial, true},
		{fmt.Errorf("asking: %w", io.EOF), true},
		{io.ErrUnexpectedEOF, true},
		{&net.OpError{Op: "read", Err: os.ErrDeadlineExceeded}, false},
		{context.DeadlineExceeded, false},
		{errors.New("broker is too old"), false},
	} {
		if got := refuses(t.Context(), test.err); got != test.want {
			t.Errorf("%v: %t", test.err, got)
		}
	}
}

// Where the replicas of a topic are is read from the metadata, and a group that nobody knows has no lag.
func TestPlacementAndUnknownGroup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake, network := virtualCluster(t, 2)
		if err := fake.CreateTopic("bills", 4, nil); err != nil {
			t.Fatal(err)
		}
		fake.ControlKey(int16(kmsg.OffsetFetch), func(req kmsg.Request) (kmsg.Response, error, bool) { // as Kafka answers
			resp, group := req.ResponseKind().(*kmsg.OffsetFetchResponse), kmsg.NewOffsetFetchResponseGroup()
			group.Group = "biling"
			resp.Groups = append(resp.Groups, group)
			return resp, nil, true
		})
		r := virtualReader(t, fake, network, []string{"biling"})
		o, err := r.ReadAll(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if lag, known := o.Lag["biling"]; known {
			t.Errorf("a group without offsets has a lag of %d", lag)
		}
		placed, _ := r.Topic("bills")
		sum := 0
		for _, n := range placed.Brokers {
			sum += n
		}
		if placed.Partitions != 4 || sum != 4*placed.Replication {
			t.Errorf("the topic has %+v", placed)
		}
	})
}
