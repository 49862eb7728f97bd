package cluster

import (
	"strings"
	"testing"
)

func TestBrokersGetNoSecretOfTheEnvironment(t *testing.T) {
	t.Setenv("KAFKA_PASSWORD", "canary-in-the-environment")
	t.Setenv("LC_ALL", "C")
	k := &Kafka{dist: Dist{}, java: Java{Path: "java"}}
	cmd := k.command(1, nil, "kafka.Kafka")
	if all := strings.Join(append(cmd.Env, cmd.Args...), "\n"); strings.Contains(all, "canary") || !strings.Contains(all, "LC_ALL=C") || !strings.Contains(all, "PATH=") {
		t.Errorf("a broker's process gets\n%s", all)
	}
}
