package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"

	"kafkabench.example/kafka-bench/internal/kafka/access"
	"kafkabench.example/kafka-bench/internal/kafka/access/accesstest"
)

const password = "s3cret-of-alice"

func securedBrokers(t *testing.T, l lab) string {
	t.Helper()
	c, err := kfake.NewCluster(append(l.listen(), kfake.EnableSASL(), kfake.Superuser(access.MechanismScram256, "alice", password))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c.ListenAddrs()[0]
}

func ofAlice(t *testing.T, password string, more ...string) string {
	t.Helper()
	settings := append([]string{"security.protocol=SASL_PLAINTEXT"}, accesstest.Login(access.MechanismScram256, "alice", password)...)
	return accesstest.File(t, "client.properties", strings.Join(append(settings, more...), "\n"))
}

func TestCommandConfig(t *testing.T) {
	virtually(t, func(t *testing.T, l lab) {
		out := t.TempDir()
		got := l.invoke(t, "run", write(t, tiny), "--out", out, "--brokers", securedBrokers(t, l), "--command-config", ofAlice(t, password, "acks=all"))
		if got.code != exitValid {
			t.Fatalf("exit code %d: %s", got.code, got.stderr)
		}
		if !strings.Contains(got.stderr, "client.properties: ignored") || !strings.Contains(got.stderr, "acks") {
			t.Errorf("nothing is said of what was ignored: %s", got.stderr)
		}
	})
}

func TestCommandConfigRefused(t *testing.T) {
	good := write(t, tiny)
	tests := map[string]struct {
		args []string
		code int
		want []string
	}{
		"wrong password": {[]string{good, "--brokers", "BROKERS", "--command-config", ofAlice(t, "wrong")}, exitUnreachable, []string{"username and password"}},
		"no brokers":     {[]string{good, "--command-config", ofAlice(t, password)}, exitBadInput, []string{"--brokers"}},
		"no file":        {[]string{good, "--brokers", "localhost:1", "--command-config", "none"}, exitBadInput, []string{"none", "no such file"}},
		"faults of both files": {
			[]string{write(t, "name: a\nload: {rate: 10x}\n"), "--brokers", "localhost:1", "--command-config", ofAlice(t, password, "sasl.mechansim=PLAIN", "security.protocol=SSL")},
			exitBadInput, []string{"s.yaml:2", "client.properties:4", "sasl.mechanism", "client.properties:5", "line 1 already"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			virtually(t, func(t *testing.T, l lab) {
				out := filepath.Join(t.TempDir(), "runs")
				if at := slices.Index(test.args, "BROKERS"); at >= 0 {
					test.args[at] = securedBrokers(t, l)
				}
				got := l.invoke(t, append([]string{"run", "--out", out}, test.args...)...)
				if got.code != test.code {
					t.Errorf("exit code %d, want %d", got.code, test.code)
				}
				for _, word := range test.want {
					if !strings.Contains(got.stderr, word) {
						t.Errorf("no mention of %q in:\n%s", word, got.stderr)
					}
				}
				if strings.Contains(got.stdout+got.stderr, password) {
					t.Errorf("the password is repeated:\n%s", got.stderr)
				}
				wantNothing(t, out)
			})
		})
	}
}
