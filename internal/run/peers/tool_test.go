//go:build unix

package peers

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kafkabench.example/kafka-bench/internal/kafka/access"
	"kafkabench.example/kafka-bench/internal/kafka/access/accesstest"
	"kafkabench.example/kafka-bench/internal/kafka/cluster"
)

type securedCluster struct{ access access.Access }

func (securedCluster) Bootstrap() []string        { return []string{"127.0.0.1:1"} }
func (securedCluster) Info() cluster.Info         { return cluster.Info{} }
func (securedCluster) Stop(context.Context) error { return nil }
func (c securedCluster) Access() access.Access    { return c.access }

// Kafka's tools read the client properties themselves. They get exactly the variables that the file names.
func TestToolsGetTheVariablesOfTheirFile(t *testing.T) {
	for _, name := range []string{"KAFKA_PASSWORD", "OTHER_PASSWORD", "HTTPS_PROXY", "AWS_SECRET_ACCESS_KEY"} {
		t.Setenv(name, "canary")
	}
	java := filepath.Join(t.TempDir(), "java")
	if err := os.WriteFile(java, []byte("#!/bin/sh\nenv\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	tools := Tools{Java: cluster.Java{Path: java}, CommandConfig: "client.properties", Cluster: securedCluster{accesstest.Access(t,
		"security.protocol=SASL_PLAINTEXT", "sasl.mechanism=PLAIN", "config.providers=env",
		"config.providers.env.class=org.apache.kafka.common.config.provider.EnvVarConfigProvider",
		`sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required username="a" password="${env:KAFKA_PASSWORD}";`)}}
	output, err := tools.run(t.Context(), "ProducerPerformance")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(string(output)) {
		if name, isCanary := strings.CutSuffix(strings.TrimSpace(line), "=canary"); isCanary {
			got = append(got, name)
		}
	}
	if strings.Join(got, " ") != "KAFKA_PASSWORD" {
		t.Errorf("a tool gets the secrets %q, want only KAFKA_PASSWORD", got)
	}
}
