package main

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/sasl/plain"
)

func TestOutOfReach(t *testing.T) {
	dead, deaf := deadAddress(t), deafBroker(t)
	for _, c := range []struct {
		name string
		args []string
		want string
	}{
		{"nobody listens", []string{"run", "FILE", "--brokers", dead}, "scenario s: no broker can be reached: " + dead + ": connect: connection refused; check the addresses and that Kafka runs there"},
		{"not Kafka", []string{"run", "FILE", "--brokers", deaf}, "scenario s: " + deaf + " accepts connections, but does not answer like a Kafka broker"},
		{"no such cluster", []string{"run", "FILE", "--cluster", "nosuch"}, `scenario s: the cluster "nosuch" is not up; start it with: kafka-bench cluster up --name nosuch`},
		{"no such cluster, dry", []string{"run", "FILE", "--cluster", "nosuch", "--dry-run"}, `the cluster "nosuch" is not up; start it with: kafka-bench cluster up --name nosuch`},
		{"nearly a kind", []string{"run", "FILE", "--cluster", "embedde"}, `scenario s: the cluster "embedde" is not up; did you mean embedded? If not, start it with: kafka-bench cluster up --name embedde`},
		{"status of nothing", []string{"cluster", "status"}, `the cluster "default" is not up; start it with: kafka-bench cluster up`},
		{"down of nothing", []string{"cluster", "down"}, `the cluster "default" is not up; there is nothing to end`},
	} {
		t.Run(c.name, func(t *testing.T) {
			file, out := write(t, tiny), filepath.Join(t.TempDir(), "runs")
			for i, arg := range c.args {
				c.args[i] = strings.ReplaceAll(arg, "FILE", file)
			}
			if c.args[0] == "run" {
				c.args = append(c.args, "--out", out)
			}
			got := invoke(t, c.args...)
			if !strings.HasPrefix(got.message(), c.want) || got.code != exitUnreachable {
				t.Errorf("exit code %d and the message\n%s, want %d and\n%s", got.code, got.message(), exitUnreachable, c.want)
			}
			wantNothing(t, out)
		})
	}
}

func deadAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

func deafBroker(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"))
			_ = conn.Close()
		}
	}()
	return l.Addr().String()
}

func TestRefusedSession(t *testing.T) {
	virtually(t, func(t *testing.T, l lab) {
		got := l.invoke(t, "run", write(t, tiny), "--cluster", "embedded", "--set", "consume.session_timeout=1s", "--out", t.TempDir())
		if got.code == exitValid || !strings.HasPrefix(got.message(), "scenario s: consume.session_timeout 1s: ") {
			t.Errorf("exit code %d: %s", got.code, got.message())
		}
	})
}

func TestRefused(t *testing.T) {
	for _, c := range []struct {
		name string
		key  kmsg.Key
		code *kerr.Error
		args []string
		want string // ID stands for the cluster's ID, TOPIC for the run's topic
		exit int
	}{
		{
			name: "topic creation, against policy", key: kmsg.CreateTopics, code: kerr.PolicyViolation,
			want: `scenario s: the topic "TOPIC" was not created: POLICY_VIOLATION: Request parameters do not satisfy the configured policy.; the cluster's policy for new topics forbids it; adapt topic, or name a topic in topic.existing`,
			exit: exitUnreachable,
		},
		{
			name: "too few brokers", args: []string{"--set", "topic.replication=3"},
			want: `scenario s: the topic "TOPIC" was not created: INVALID_REPLICATION_FACTOR: Replication factor is below 1 or larger than the number of available brokers.; lower topic.replication from 3 to the number of brokers, or use more brokers`,
			exit: exitUnreachable,
		},
		{
			name: "a topic that is not there", args: []string{"--set", "topic.existing=orders", "--write-to", "orders"},
			want: `scenario s: the topic "orders" does not exist; create it, or leave topic.existing out to have one made for the run`,
			exit: exitBadInput,
		},
		{
			name: "another cluster", args: []string{"--cluster-id", "5L6g3nShT-eMCtK--X86sw"},
			want: "scenario s: the cluster at [ADDRESS] has the ID ID, not 5L6g3nShT-eMCtK--X86sw; check the addresses, or name that ID with --cluster-id",
			exit: exitBadInput,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			virtually(t, func(t *testing.T, l lab) {
				e := l.start(t)
				if c.code != nil {
					e.Fake().Fault(kfake.Fault{Keys: []kmsg.Key{c.key}, Err: c.code, Count: -1})
				}
				out := filepath.Join(t.TempDir(), "runs")
				got := l.invoke(t, append([]string{"run", write(t, tiny), "--brokers", e.Bootstrap()[0], "--out", out}, c.args...)...)
				want := strings.NewReplacer("[ADDRESS]", "["+e.Bootstrap()[0]+"]", " ID ID,", " ID "+e.Info().ID+",").Replace(c.want)
				if said := withoutTopic(got.message()); said != want || got.code != c.exit {
					t.Errorf("exit code %d and the message\n%s, want %d and\n%s", got.code, said, c.exit, want)
				}
				wantNothing(t, out)
				if left := topics(t, l.client(e.Bootstrap())...); len(left) > 0 {
					t.Errorf("the topics %v were left behind", left)
				}
			})
		})
	}
}

func TestSecured(t *testing.T) {
	const password = "secret"
	const remedy = "allow this user CREATE, READ, WRITE and DELETE on the topic, and READ and DELETE on the group; " +
		"a run names both kafka-bench-…, so a prefixed ACL serves (kafka-acls --resource-pattern-type prefixed)"
	allow := func(resource kmsg.ACLResourceType, name string, pattern kmsg.ACLResourcePatternType, op kmsg.ACLOperation) kfake.ACL {
		return kfake.ACL{Resource: resource, Name: name, Pattern: pattern, Operation: op, Allow: true}
	}
	ours := func(resource kmsg.ACLResourceType, op kmsg.ACLOperation) kfake.ACL {
		return allow(resource, "kafka-bench-", kmsg.ACLResourcePatternTypePrefixed, op)
	}
	reader := []kfake.ACL{
		allow(kmsg.ACLResourceTypeCluster, "kafka-cluster", kmsg.ACLResourcePatternTypeLiteral, kmsg.ACLOperationDescribe),
		ours(kmsg.ACLResourceTypeTopic, kmsg.ACLOperationCreate), ours(kmsg.ACLResourceTypeTopic, kmsg.ACLOperationDelete),
		ours(kmsg.ACLResourceTypeTopic, kmsg.ACLOperationDescribe), ours(kmsg.ACLResourceTypeTopic, kmsg.ACLOperationRead),
		ours(kmsg.ACLResourceTypeGroup, kmsg.ACLOperationRead), ours(kmsg.ACLResourceTypeGroup, kmsg.ACLOperationDescribe),
	}
	writer := []kfake.ACL{
		reader[0], ours(kmsg.ACLResourceTypeTopic, kmsg.ACLOperationRead), ours(kmsg.ACLResourceTypeTopic, kmsg.ACLOperationWrite),
		ours(kmsg.ACLResourceTypeTopic, kmsg.ACLOperationDelete),
		ours(kmsg.ACLResourceTypeGroup, kmsg.ACLOperationRead), ours(kmsg.ACLResourceTypeGroup, kmsg.ACLOperationDelete),
	}
	users := []kfake.Opt{
		kfake.EnableSASL(), kfake.EnableACLs(),
		kfake.Superuser("PLAIN", "admin", password), kfake.User("PLAIN", "reader", password, reader...),
		kfake.User("PLAIN", "writer", password, writer...), kfake.User("PLAIN", "nobody", password),
	}
	for _, c := range []struct {
		name, user, password string
		want                 string
	}{
		{"without a name", "", "", "scenario s: ADDRESS: the broker closed the connection; it may require TLS or SASL; give --command-config a file with the security.protocol of the broker's listener"},
		{"with a wrong password", "reader", "guess", "scenario s: ADDRESS: the broker closed the connection while the client logged in; check username and password in sasl.jaas.config, and that the user exists for this sasl.mechanism"},
		{"without rights", "nobody", password, `scenario s: this user may not WRITE to the topic "TOPIC", nor READ the topic "TOPIC", nor DELETE the topic "TOPIC", nor READ the group "TOPIC", nor DELETE the group "TOPIC"; ` + remedy},
		{"without the right to create topics", "writer", password, `scenario s: the topic "TOPIC" was not created: TOPIC_AUTHORIZATION_FAILED: Not authorized to access topics: [Topic authorization failed.]; allow this user CREATE on the topic or on the cluster, or name a topic in topic.existing`},
		{"without the right to write", "reader", password, `scenario s: this user may not WRITE to the topic "TOPIC", nor DELETE the group "TOPIC"; ` + remedy},
	} {
		t.Run(c.name, func(t *testing.T) {
			virtually(t, func(t *testing.T, l lab) {
				fake, err := kfake.NewCluster(append(l.listen(), users...)...)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(fake.Close)
				address := fake.ListenAddrs()[0]
				out := filepath.Join(t.TempDir(), "runs")
				args := []string{"run", write(t, tiny), "--brokers", address, "--out", out}
				if c.user != "" {
					args = append(args, "--command-config", properties(t, c.user, c.password))
				}
				got := l.invoke(t, args...)
				want := strings.ReplaceAll(c.want, "ADDRESS", address)
				if said := withoutTopic(got.message()); said != want || got.code != exitUnreachable {
					t.Errorf("exit code %d and the message\n%s, want %d and\n%s", got.code, said, exitUnreachable, want)
				}
				wantNothing(t, out)
				login := kgo.SASL(plain.Auth{User: "admin", Pass: password}.AsMechanism())
				if left := topics(t, l.client([]string{address}, login)...); len(left) > 0 {
					t.Errorf("the topics %v were left behind", left)
				}
			})
		})
	}
}

func properties(t *testing.T, user, password string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "client.properties")
	text := fmt.Sprintf("security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\n"+
		"sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required username=%q password=%q;\n", user, password)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

var runsTopic = regexp.MustCompile(`"kafka-bench-s-[^"]*"`)

func withoutTopic(message string) string { return runsTopic.ReplaceAllString(message, `"TOPIC"`) }

func TestContradictedCluster(t *testing.T) {
	dir := t.TempDir()
	for set, says := range map[string]string{
		"cluster.version=4.1":          "scenario quick: cluster.version asks for Kafka 4.1, and the cluster is the embedded broker; leave cluster.version out, or start such a Kafka with --cluster kafka",
		"cluster.disks=[" + dir + "]":  "scenario quick: cluster.disks names " + dir + ", and the embedded broker keeps its logs in memory; leave cluster.disks out, or start such a Kafka with --cluster kafka",
		"matrix.cluster.version=[4.3]": "scenario quick-4.3: cluster.version asks for Kafka 4.3",
	} {
		for _, dry := range []string{"--dry-run", "--dry-run=false"} {
			out := filepath.Join(t.TempDir(), "runs")
			got := invoke(t, "run", "quick", "--cluster", "embedded", "--set", set, dry, "--out", out)
			if got.code != exitBadInput || got.stdout != "" || !strings.HasPrefix(got.message(), says) {
				t.Errorf("%s %s: exit code %d, %q and\n%s", set, dry, got.code, got.stdout, got.message())
			}
			wantNothing(t, out)
		}
	}
}

func TestUnbreakable(t *testing.T) {
	const where = "scenario broker-failover-all-kill: kill leader of partition 0 at "
	for _, c := range []struct{ flag, value, want string }{
		{"--cluster", "embedded", "the embedded broker is no process that a fault could hit; run it on Apache Kafka: --cluster kafka"},
		{"--cluster", "mine", "the cluster stays up after the run, and an interrupted run would leave it broken; use --cluster kafka, which starts one for the run"},
		{"--brokers", deadAddress(t), "a fault may not hit the brokers of an existing cluster; use --cluster kafka instead of --brokers, which starts one for the run"},
	} {
		out := filepath.Join(t.TempDir(), "runs")
		got := invoke(t, "run", "broker-failover", "--quick", c.flag, c.value, "--out", out)
		if got.code != exitBadInput || got.stdout != "" || !strings.HasPrefix(got.message(), strings.Replace(where, "failover-", "failover-quick-", 1)) || !strings.HasSuffix(got.message(), c.want) {
			t.Errorf("%s %s: exit code %d, %q and\n%s", c.flag, c.value, got.code, got.stdout, got.message())
		}
		wantNothing(t, out)
	}
}
