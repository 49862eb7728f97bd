package cluster

import (
	"math/rand/v2"
	"net"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kafkabench.example/kafka-bench/internal/kafka/access"
)

func freeAddr(t *testing.T) string {
	t.Helper()
	ports, err := freePorts(1)
	if err != nil {
		t.Fatal(err)
	}
	return place{port: ports[0]}.addr()
}

func TestConnect(t *testing.T) {
	e := startEmbedded(t, EmbeddedOptions{})
	addr, dead := e.Bootstrap()[0], freeAddr(t)

	found, err := Connect(testContext(t), []string{dead, addr}, "", access.Access{})
	if err != nil {
		t.Fatal(err)
	}
	if info := found.Info(); info.Kind != KindExisting || info.ID != e.Info().ID || info.Brokers != 1 || info.Version == "" {
		t.Errorf("Info() = %+v", info)
	}
	if err := found.Stop(testContext(t)); err != nil {
		t.Error(err)
	}
	if _, err := Connect(testContext(t), []string{addr}, "", access.Access{}); err != nil {
		t.Errorf("Stop did something to an existing cluster: %v", err)
	}
	_, err = Connect(testContext(t), []string{addr}, "AAAAAAAAAAAAAAAAAAAAAA", access.Access{})
	wantError(t, err, ErrInput, e.Info().ID, "not AAAAAAAAAAAAAAAAAAAAAA", "--cluster-id")
}

func TestConnectFails(t *testing.T) {
	deaf, err := net.Listen("tcp", host+":0")
	if err != nil {
		t.Fatal(err)
	}
	defer deaf.Close()
	go func() {
		for {
			conn, err := deaf.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"))
			conn.Close()
		}
	}()
	dead := freeAddr(t)

	_, err = Connect(testContext(t), []string{dead}, "", access.Access{})
	wantError(t, err, ErrUnreachable, dead, "refused", "check the addresses")
	_, err = Connect(testContext(t), []string{"no-such-host.invalid:9092"}, "", access.Access{})
	wantError(t, err, ErrUnreachable, "no-such-host.invalid:9092")
	_, err = Connect(testContext(t), []string{deaf.Addr().String()}, "", access.Access{})
	wantError(t, err, ErrUnreachable, deaf.Addr().String(), "does not answer like a Kafka broker", "PLAINTEXT")
	_, err = Connect(testContext(t), []string{"localhost"}, "", access.Access{})
	wantError(t, err, ErrInput, "localhost", "host:port")
	_, err = Connect(testContext(t), nil, "", access.Access{})
	wantError(t, err, ErrInput, "no brokers are named")

	err = askAdvertised(testContext(t), []string{"no-such-host.invalid:9092"}, nil, access.Access{})
	wantError(t, err, ErrUnreachable, "advertise", "no-such-host.invalid:9092")
}

func TestMustBeHere(t *testing.T) {
	for name, test := range map[string]struct {
		addrs []string
		want  string // "" if it is on this machine
	}{
		"this machine":             {[]string{"127.0.0.1:9092", "[::1]:9092"}, ""},
		"another machine":          {[]string{"192.0.2.7:9092"}, "--cluster-id an-id"},
		"a tunnel to another one":  {[]string{"127.0.0.1:9092", "192.0.2.7:9092"}, "(192.0.2.7)"},
		"a name that is not known": {[]string{"no-such-host.invalid:9092"}, "--cluster-id an-id"},
	} {
		t.Run(name, func(t *testing.T) {
			err := mustBeHere("an-id", test.addrs)
			if test.want != "" {
				wantError(t, err, ErrInput, test.want)
			} else if err != nil {
				t.Error(err)
			}
		})
	}
}

// TestConnectToTwoClusters: addresses of different clusters are refused in any order, whichever ID is expected.
func TestConnectToTwoClusters(t *testing.T) {
	one, two := startFake(t, kfake.ClusterID("one")), startFake(t, kfake.ClusterID("two"))
	addrs := slices.Concat(one.ListenAddrs(), two.ListenAddrs(), []string{freeAddr(t)})
	for i := range 50 {
		rand.Shuffle(len(addrs), func(i, j int) { addrs[i], addrs[j] = addrs[j], addrs[i] })
		expect := []string{"", "one", "two"}[i%3]
		connect := Connect
		if i%2 == 0 {
			connect = Attach
		}
		_, err := connect(testContext(t), addrs, expect, access.Access{})
		wantError(t, err, ErrInput, "different clusters", one.ListenAddrs()[0]+" of one", two.ListenAddrs()[0]+" of two")
	}
	_, err := Attach(testContext(t), one.ListenAddrs(), "two", access.Access{})
	wantError(t, err, ErrInput, "has the ID one, not two")
}

// TestConnectUsesAdvertisedAddresses: clients get the addresses that the checked cluster advertises, and no address
// that did not answer.
func TestConnectUsesAdvertisedAddresses(t *testing.T) {
	c, dead := startFake(t, kfake.NumBrokers(3)), freeAddr(t)
	found, err := Connect(testContext(t), []string{dead, c.ListenAddrs()[1]}, "", access.Access{})
	if err != nil {
		t.Fatal(err)
	}
	if got := slices.Sorted(slices.Values(found.Bootstrap())); !slices.Equal(got, slices.Sorted(slices.Values(c.ListenAddrs()))) {
		t.Errorf("clients get %v, want %v", got, c.ListenAddrs())
	}
	if silent := found.Silent(); len(silent) != 1 || !strings.HasPrefix(silent[0], dead+" is not used: ") {
		t.Errorf("Silent() = %q", silent)
	}
}

// TestAdvertisedAddressOfAnotherCluster: the address that a cluster advertises for a broker leads to another cluster.
func TestAdvertisedAddressOfAnotherCluster(t *testing.T) {
	one, two := startFake(t, kfake.ClusterID("one")), startFake(t, kfake.ClusterID("two"))
	one.ControlKey(int16(kmsg.Metadata), func(kreq kmsg.Request) (kmsg.Response, error, bool) {
		one.KeepControl()
		resp := kreq.ResponseKind().(*kmsg.MetadataResponse)
		resp.ClusterID = kmsg.StringPtr("one")
		for i, c := range []*kfake.Cluster{one, two} {
			broker := kmsg.NewMetadataResponseBroker()
			_, port, _ := net.SplitHostPort(c.ListenAddrs()[0])
			n, _ := strconv.Atoi(port)
			broker.NodeID, broker.Host, broker.Port = int32(i), "127.0.0.1", int32(n)
			resp.Brokers = append(resp.Brokers, broker)
		}
		return resp, nil, true
	})
	_, err := Connect(testContext(t), one.ListenAddrs(), "one", access.Access{})
	wantError(t, err, ErrInput, "the cluster one advertises a broker at "+two.ListenAddrs()[0], "cluster two answers there")
}

// TestVerifyID: an address that leads to another cluster by now is refused, and one without an answer is left out.
func TestVerifyID(t *testing.T) {
	one, two, dead := startFake(t, kfake.ClusterID("one")), startFake(t, kfake.ClusterID("two")), freeAddr(t)
	got, err := VerifyID(testContext(t), append(one.ListenAddrs(), dead), "one", access.Access{})
	if err != nil || !slices.Equal(got, one.ListenAddrs()) {
		t.Errorf("VerifyID() = %v, %v", got, err)
	}
	_, err = VerifyID(testContext(t), slices.Concat(one.ListenAddrs(), two.ListenAddrs()), "one", access.Access{})
	wantError(t, err, ErrInput, two.ListenAddrs()[0], "the cluster two answers there")
	_, err = VerifyID(testContext(t), []string{dead}, "one", access.Access{})
	wantError(t, err, ErrUnreachable, dead)
}
