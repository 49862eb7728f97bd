package cluster

import (
	"net"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"

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

	err = dialAdvertised(testContext(t), kadm.BrokerDetails{{NodeID: 1, Host: "no-such-host.invalid", Port: 9092}}, access.Access{})
	wantError(t, err, ErrUnreachable, "advertise", "no-such-host.invalid:9092")
}

func TestCheckID(t *testing.T) {
	const id = "5L6g3nShT-eMCtK--X86sw"
	meta := func(hosts ...string) kadm.Metadata {
		m := kadm.Metadata{Cluster: id}
		for i, h := range hosts {
			m.Brokers = append(m.Brokers, kadm.BrokerDetail{NodeID: int32(i), Host: h, Port: 9092})
		}
		return m
	}
	tests := []struct {
		name      string
		meta      kadm.Metadata
		bootstrap string
		expect    string
		want      string
	}{
		{"this machine", meta("127.0.0.1", "::1"), "127.0.0.1:9092", "", ""},
		{"another machine", meta("192.0.2.7"), "192.0.2.7:9092", "", "--cluster-id " + id},
		{"another machine, named", meta("192.0.2.7"), "192.0.2.7:9092", id, ""},
		{"another machine, misnamed", meta("192.0.2.7"), "192.0.2.7:9092", "x", "has the ID " + id},
		{"a tunnel to another machine", meta("192.0.2.7"), "127.0.0.1:9092", "", "192.0.2.7"},
		{"a broker elsewhere", meta("127.0.0.1", "192.0.2.7"), "127.0.0.1:9092", "", "--cluster-id"},
		{"a name that is not known", meta("no-such-host.invalid"), "127.0.0.1:9092", "", "--cluster-id"},
	}
	for _, test := range tests {
		err := checkID(test.meta, []string{test.bootstrap}, test.expect)
		if test.want == "" {
			if err != nil {
				t.Errorf("%s: %v", test.name, err)
			}
			continue
		}
		wantError(t, err, ErrInput, test.want)
	}
}
