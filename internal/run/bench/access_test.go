package bench_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kafkabench.example/kafka-bench/internal/kafka/access"
	"kafkabench.example/kafka-bench/internal/kafka/access/accesstest"
	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/kafka/driver/franz"
	"kafkabench.example/kafka-bench/internal/kafka/probe"
	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/bench"
)

const password = "s3cret-of-alice"

const secured = `
topic: {partitions: 2}
load:
  rate: 500/s
  producers: 2
  record: {size: 100B, payload: random}
consume: {consumers: 2, commit: 50ms}
phases: {warmup: 100ms, measure: 400ms, drain: 10s}
sampling: {interval: 100ms, lag: 50ms}
`

func securedConfig(t *testing.T, settings []string, brokers ...kfake.Opt) bench.Config {
	t.Helper()
	network := &kfake.VirtualNetwork{}
	a := accesstest.Access(t, settings...)
	a.Dial = network.DialContext
	cfg := connected(t, a, append(brokers, kfake.ListenFn(network.Listen), kfake.Ports(9092, 9093))...)
	cfg.Probes = probe.Unknown()
	return cfg
}

func onTheClock(t *testing.T, settings []string, brokers ...kfake.Opt) bench.Config {
	t.Helper()
	return connected(t, accesstest.Access(t, settings...), brokers...)
}

func connected(t *testing.T, a access.Access, brokers ...kfake.Opt) bench.Config {
	t.Helper()
	fake, err := kfake.NewCluster(append([]kfake.Opt{kfake.NumBrokers(2)}, brokers...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(fake.Close)
	s, err := scenario.Parse("secured.yaml", []byte(secured))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	c, err := cluster.Connect(ctx, fake.ListenAddrs(), "", a)
	if err != nil {
		t.Fatal(err)
	}
	return bench.Config{Scenario: s, Cluster: c, Driver: franz.New(), Out: t.TempDir(), Tool: result.Tool{Version: "test"}}
}

// inBubble waits a minute for remaining timers (see package virtual).
func inBubble(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		t.Cleanup(func() { time.Sleep(time.Minute) })
		f(t)
	})
}

func topics(t *testing.T, c cluster.Cluster) []string {
	t.Helper()
	client, err := kgo.NewClient(append(cluster.AccessTo(c).Options(), kgo.SeedBrokers(c.Bootstrap()...))...)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	listed, err := kadm.NewClient(client).ListTopics(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return listed.Names()
}

func wantRefused(t *testing.T, err error, words ...string) {
	t.Helper()
	if !errors.Is(err, cluster.ErrRefused) {
		t.Fatalf("error %v, want a refusal", err)
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("the error does not mention %q: %v", word, err)
		}
	}
	if strings.Contains(err.Error(), password) || strings.Contains(err.Error(), "\n") {
		t.Errorf("the error is not one line without secrets:\n%v", err)
	}
}

func TestSecuredRun(t *testing.T) {
	type entry struct {
		settings       []string
		brokers        []kfake.Opt
		protocol, sasl string
	}
	// The certificates must be valid at the bubble's time.
	tests := map[string]func(*testing.T, *accesstest.Authority) entry{
		"PLAIN": func(*testing.T, *accesstest.Authority) entry {
			return entry{accesstest.Login(access.MechanismPlain, "alice", password), nil, "SASL_PLAINTEXT", "PLAIN"}
		},
		"SCRAM-SHA-256": func(*testing.T, *accesstest.Authority) entry {
			return entry{accesstest.Login(access.MechanismScram256, "alice", password), nil, "SASL_PLAINTEXT", "SCRAM-SHA-256"}
		},
		"SCRAM-SHA-512 under TLS": func(t *testing.T, ca *accesstest.Authority) entry {
			settings := slices.Concat(ca.Trust(t), accesstest.Login(access.MechanismScram512, "alice", password))
			return entry{settings, []kfake.Opt{kfake.TLS(ca.Server(t, false))}, "SASL_SSL", "SCRAM-SHA-512"}
		},
		"TLS": func(t *testing.T, ca *accesstest.Authority) entry {
			return entry{ca.Trust(t), []kfake.Opt{kfake.TLS(ca.Server(t, false))}, "SSL", "unset"}
		},
		"TLS, client certificates": func(t *testing.T, ca *accesstest.Authority) entry {
			return entry{slices.Concat(ca.Trust(t), ca.Identity(t, "alice")), []kfake.Opt{kfake.TLS(ca.Server(t, true))}, "SSL", "unset"}
		},
		"TLS, another host's names": func(t *testing.T, ca *accesstest.Authority) entry {
			settings := slices.Concat(ca.Trust(t), []string{"ssl.endpoint.identification.algorithm="})
			return entry{settings, []kfake.Opt{kfake.TLS(ca.Server(t, false, "kafka.example"))}, "SSL", "unset"}
		},
	}
	for name, of := range tests {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				test := of(t, accesstest.NewAuthority(t))
				if test.sasl != "unset" {
					test.brokers = append(test.brokers, kfake.EnableSASL(), kfake.Superuser(test.sasl, "alice", password))
				}
				cfg := securedConfig(t, append([]string{"security.protocol=" + test.protocol}, test.settings...), test.brokers...)
				outcome, err := bench.Run(t.Context(), cfg)
				if err != nil {
					t.Fatal(err)
				}
				run := outcome.Run
				if run.Load.Acked != 200 || run.Load.Acked != run.Load.Scheduled || run.Delivery.Unique != run.Load.Acked || run.Lag.FinalRecords == nil {
					t.Errorf("the books: %+v, %+v, lag %+v", run.Load, run.Delivery, run.Lag)
				}
				for _, settings := range [][]result.Setting{run.Run.Driver.Producer, run.Run.Driver.Consumer} {
					for name, want := range map[string]string{"security.protocol": test.protocol, "SASL": test.sasl} {
						if !slices.Contains(settings, result.Setting{Name: name, Value: want}) {
							t.Errorf("%s is not reported as %s", name, want)
						}
					}
				}
				wantNoSecret(t, outcome.Dir)
				if left := topics(t, cfg.Cluster); len(left) > 0 {
					t.Errorf("topics are left behind: %v", left)
				}
			})
		})
	}
}

func wantNoSecret(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) == 0 {
		t.Fatal(entries, err)
	}
	for _, entry := range entries {
		content, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		if err != nil {
			t.Fatal(err)
		}
		for _, secret := range []string{password, "alice", "PRIVATE KEY"} {
			if strings.Contains(string(content), secret) {
				t.Errorf("%s holds %q", entry.Name(), secret)
			}
		}
	}
}

func TestMissingRights(t *testing.T) {
	const topic, group = kmsg.ACLResourceTypeTopic, kmsg.ACLResourceTypeGroup
	allow := func(resource kmsg.ACLResourceType, operations ...kmsg.ACLOperation) (acls []kfake.ACL) {
		for _, operation := range operations {
			acls = append(acls, kfake.ACL{
				Resource: resource, Name: "kafka-bench-", Pattern: kmsg.ACLResourcePatternTypePrefixed, Operation: operation, Allow: true,
			})
		}
		return acls
	}
	const read, write, create, remove, describe = kmsg.ACLOperationRead, kmsg.ACLOperationWrite, kmsg.ACLOperationCreate, kmsg.ACLOperationDelete, kmsg.ACLOperationDescribe
	groups := allow(group, read, remove)
	tests := map[string]struct {
		acls []kfake.ACL
		want []string
	}{
		"all that is needed":   {slices.Concat(groups, allow(topic, read, write, create, remove, describe)), nil},
		"no CREATE":            {slices.Concat(groups, allow(topic, read, write, remove, describe)), []string{"was not created", "allow this user CREATE", "topic.existing"}},
		"no WRITE":             {slices.Concat(groups, allow(topic, read, create, remove, describe)), []string{"may not WRITE to the topic", "prefixed ACL"}},
		"no READ":              {slices.Concat(groups, allow(topic, write, create, remove, describe)), []string{"may not READ the topic", "prefixed ACL"}},
		"no READ on the group": {allow(topic, read, write, create, remove, describe), []string{"may not READ the group", "prefixed ACL"}},
		"no DELETE":            {slices.Concat(groups, allow(topic, read, write, create, describe)), []string{"may not DELETE the topic", "prefixed ACL"}},
		"no DELETE on the group": {slices.Concat(allow(group, read), allow(topic, read, write, create, remove, describe)),
			[]string{"may not DELETE the group", "prefixed ACL"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				cfg := securedConfig(t, append([]string{"security.protocol=SASL_PLAINTEXT"}, accesstest.Login("PLAIN", "alice", password)...),
					kfake.EnableSASL(), kfake.EnableACLs(), kfake.User("PLAIN", "alice", password, test.acls...))
				_, err := bench.Run(t.Context(), cfg)
				if test.want == nil {
					if err != nil {
						t.Fatal(err)
					}
					return
				}
				wantRefused(t, err, test.want...)
				if entries, err := os.ReadDir(cfg.Out); err != nil || len(entries) > 0 {
					t.Errorf("files are left behind: %v, %v", entries, err)
				}
				if left := topics(t, cfg.Cluster); len(left) > 0 {
					t.Errorf("topics are left behind: %v", left)
				}
			})
		})
	}
}
