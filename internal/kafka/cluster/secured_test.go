package cluster

import (
	"crypto/tls"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kafkabench.example/kafka-bench/internal/kafka/access"
	"kafkabench.example/kafka-bench/internal/kafka/access/accesstest"
)

const password = "s3cret-of-alice"

const patience = 8 * time.Second

func startFake(t *testing.T, opts ...kfake.Opt) *kfake.Cluster {
	t.Helper()
	c, err := kfake.NewCluster(append([]kfake.Opt{kfake.NumBrokers(1)}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// Tests of TLS need loopback instead: the in-memory network has no buffers, so an alert does not
// reach a client that closes.
func startVirtual(t *testing.T, opts ...kfake.Opt) (*kfake.Cluster, access.Dial) {
	t.Helper()
	t.Cleanup(func() { time.Sleep(time.Minute) })
	network := &kfake.VirtualNetwork{}
	return startFake(t, append(opts, kfake.Ports(9092), kfake.ListenFn(network.Listen))...), network.DialContext
}

func TestConnectSecured(t *testing.T) {
	ca := accesstest.NewAuthority(t)
	c := startFake(t, kfake.TLS(ca.Server(t, true)), kfake.EnableSASL(), kfake.Superuser("SCRAM-SHA-512", "alice", password))
	a := accesstest.Access(t, append(append(append([]string{"security.protocol=SASL_SSL"},
		accesstest.Login("SCRAM-SHA-512", "alice", password)...), ca.Trust(t)...), ca.Identity(t, "alice")...)...)
	found, err := Connect(testContext(t), c.ListenAddrs(), "", a)
	if err != nil {
		t.Fatal(err)
	}
	if got := AccessTo(found); got.Protocol() != access.ProtocolSASLTLS || got.SASL.Username != "alice" {
		t.Errorf("AccessTo() = %v", got)
	}
	if got := AccessTo(startEmbedded(t, EmbeddedOptions{})); got.TLS != nil || got.SASL != nil || got.Dial != nil {
		t.Errorf("the embedded cluster asks for %v", got)
	}
}

type turnedAway struct {
	broker   []kfake.Opt
	settings []string
	kind     error
	want     []string
}

func TestConnectTurnedAway(t *testing.T) {
	ca, other := accesstest.NewAuthority(t), accesstest.NewAuthority(t)
	expired, expiredKey := ca.Issue(t, -time.Minute, "127.0.0.1")
	withTLS := func(config *tls.Config) []kfake.Opt { return []kfake.Opt{kfake.TLS(config)} }
	ssl := append([]string{"security.protocol=SSL"}, ca.Trust(t)...)
	tests := map[string]turnedAway{
		"wrong authority":           {withTLS(other.Server(t, false)), ssl, ErrUnreachable, []string{"not signed by an authority", "ssl.truststore.location"}},
		"wrong authority, any name": {withTLS(other.Server(t, false)), append(ssl[:len(ssl):len(ssl)], "ssl.endpoint.identification.algorithm="), ErrUnreachable, []string{"not signed by an authority", "ssl.truststore.location"}},
		"another host name":         {withTLS(ca.Server(t, false, "kafka.example")), ssl, ErrUnreachable, []string{"another host name", "127.0.0.1", "ssl.endpoint.identification.algorithm"}},
		"expired":                   {withTLS(ca.ServerWith(t, false, expired, expiredKey)), ssl, ErrUnreachable, []string{"not valid", "expired"}},
		"no client certificate":     {withTLS(ca.Server(t, true)), ssl, ErrRefused, []string{"client's certificate", "ssl.keystore.location"}},
		"another's certificate":     {withTLS(ca.Server(t, true)), append(ssl[:len(ssl):len(ssl)], other.Identity(t, "alice")...), ErrRefused, []string{"client's certificate", "ssl.keystore.location"}},
		"plain text to a TLS port":  {withTLS(ca.Server(t, false)), nil, ErrUnreachable, []string{"TLS", "security.protocol"}},
		"a login to a TLS port":     {withTLS(ca.Server(t, false)), login("PLAIN", password), ErrUnreachable, []string{"TLS", "SASL_SSL"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			checkTurnedAway(t, test, startFake(t, test.broker...), nil)
		})
	}
}

func TestConnectWithoutLogin(t *testing.T) {
	withUser := []kfake.Opt{
		kfake.EnableSASL(), kfake.Superuser("PLAIN", "alice", password), kfake.Superuser("SCRAM-SHA-256", "alice", password),
	}
	wrong, closed := []string{"logged in", "username and password"}, []string{"closed the connection", "--command-config"}
	for name, test := range map[string]turnedAway{
		"wrong password, PLAIN": {withUser, login("PLAIN", "wrong"), ErrRefused, wrong},
		"wrong password, SCRAM": {withUser, login("SCRAM-SHA-256", "wrong"), ErrRefused, wrong},
		"nobody":                {withUser, nil, ErrUnreachable, closed},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, dial := startVirtual(t, test.broker...)
				began := time.Now()
				checkTurnedAway(t, test, c, dial)
				if took := time.Since(began); took > patience {
					t.Errorf("it took %v", took)
				}
			})
		})
	}
}

func login(mechanism, password string) []string {
	return append([]string{"security.protocol=SASL_PLAINTEXT"}, accesstest.Login(mechanism, "alice", password)...)
}

func checkTurnedAway(t *testing.T, test turnedAway, c *kfake.Cluster, dial access.Dial) {
	t.Helper()
	a := accesstest.Access(t, test.settings...)
	a.Dial = dial
	_, err := Connect(testContext(t), c.ListenAddrs(), "", a)
	wantError(t, err, test.kind, append(test.want, c.ListenAddrs()[0])...)
	if strings.Contains(err.Error(), password) || strings.Contains(err.Error(), "\n") {
		t.Errorf("the error is not one line without secrets:\n%v", err)
	}
}

// TestConnectRefusedLogin: the error has the message that Kafka's brokers, unlike kfake, send.
func TestConnectRefusedLogin(t *testing.T) { synctest.Test(t, testConnectRefusedLogin) }

func testConnectRefusedLogin(t *testing.T) {
	a := accesstest.Access(t, login("PLAIN", password)...)
	for code, want := range map[*kerr.Error][]string{
		kerr.SaslAuthenticationFailed: {"did not accept the user name and password", "Invalid username or password", "sasl.jaas.config"},
		kerr.UnsupportedSaslMechanism: {"does not offer", "sasl.mechanism"},
		kerr.IllegalSaslState:         {"does not use SASL", "PLAINTEXT or SSL"},
	} {
		c, dial := startVirtual(t, kfake.EnableSASL(), kfake.Superuser("PLAIN", "alice", password))
		c.Control(func(req kmsg.Request) (kmsg.Response, error, bool) {
			c.KeepControl()
			switch resp := req.ResponseKind().(type) {
			case *kmsg.SASLHandshakeResponse:
				if code == kerr.SaslAuthenticationFailed {
					return nil, nil, false
				}
				resp.ErrorCode = code.Code
				return resp, nil, true
			case *kmsg.SASLAuthenticateResponse:
				message := "Authentication failed: Invalid username or password"
				resp.ErrorCode, resp.ErrorMessage = code.Code, &message
				return resp, nil, true
			}
			return nil, nil, false
		})
		a.Dial = dial
		_, err := Connect(testContext(t), c.ListenAddrs(), "", a)
		wantError(t, err, ErrRefused, want...)
	}
}

func TestConnectTLSToPlaintext(t *testing.T) {
	for name, answer := range map[string]func(net.Conn){
		"closes":  func(conn net.Conn) { _, _ = conn.Read(make([]byte, 4)); conn.Close() },
		"answers": func(conn net.Conn) { _, _ = conn.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n")); conn.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			listener, err := net.Listen("tcp", host+":0")
			if err != nil {
				t.Fatal(err)
			}
			defer listener.Close()
			go accept(listener, answer)
			checkNoTLS(t, listener, nil)
		})
	}
}

func TestConnectTLSToMute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := &kfake.VirtualNetwork{}
		listener, err := network.Listen("tcp", "localhost:9092")
		if err != nil {
			t.Fatal(err)
		}
		defer listener.Close()
		go accept(listener, func(net.Conn) {})
		began := time.Now()
		checkNoTLS(t, listener, network.DialContext)
		if took := time.Since(began); took != 5*time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

func accept(listener net.Listener, answer func(net.Conn)) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		answer(conn)
	}
}

func checkNoTLS(t *testing.T, listener net.Listener, dial access.Dial) {
	t.Helper()
	a, address := accesstest.Access(t, "security.protocol=SSL"), listener.Addr().String()
	a.Dial = dial
	_, err := Connect(testContext(t), []string{address}, "", a)
	wantError(t, err, ErrUnreachable, "does not speak TLS", "PLAINTEXT or SASL_PLAINTEXT", address)
}

func TestLackingRights(t *testing.T) {
	const describe, read, write = 1 << kmsg.ACLOperationDescribe, 1 << kmsg.ACLOperationRead, 1 << kmsg.ACLOperationWrite
	for name, test := range map[string]struct {
		allowed         int32
		writes, deletes bool
		want            string
	}{
		"all":          {describe | read | write, true, false, ""},
		"no write":     {describe | read, true, false, "WRITE to it"},
		"not written":  {describe | read, false, false, ""},
		"no delete":    {describe | read | write, true, true, "DELETE it"},
		"nothing":      {noRights, true, true, "WRITE to it, READ it, DELETE it"},
		"not reported": {known(-1 << 31), true, true, ""},
		"without DESCRIBE the broker does not know": {known(0), true, true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := strings.Join(lackingRights(test.allowed, "it", []right{
				{kmsg.ACLOperationWrite, "WRITE to", test.writes}, {kmsg.ACLOperationRead, "READ", true},
				{kmsg.ACLOperationDelete, "DELETE", test.deletes},
			}), ", ")
			if got != test.want {
				t.Errorf("it lacks %q, want %q", got, test.want)
			}
		})
	}
}
