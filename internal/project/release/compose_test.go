package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/schema"
	"go.yaml.in/yaml/v4"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
)

const composeFile = "../../../deploy/compose/compose.yaml"

func readYAML(t *testing.T, file string, into any) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, into); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

func TestComposeSchema(t *testing.T) {
	var file map[string]any
	readYAML(t, composeFile, &file)
	if err := schema.Validate(file); err != nil {
		t.Fatal(err)
	}
	kafka := file["services"].(map[string]any)["kafka"].(map[string]any)
	kafka["imagee"] = kafka["image"]
	if schema.Validate(file) == nil {
		t.Error("a service with an unknown key is valid")
	}
}

// TestComposeFitsTheRest compares the file with the files that it mounts, and with the versions.
func TestComposeFitsTheRest(t *testing.T) {
	var file struct {
		Services map[string]struct {
			Image       string
			NetworkMode string `yaml:"network_mode"`
			Command     []string
			Environment map[string]string
			Volumes     []string
		}
	}
	readYAML(t, composeFile, &file)
	for name, service := range file.Services {
		for _, volume := range service.Volumes {
			source, _, _ := strings.Cut(volume, ":")
			if !strings.HasPrefix(source, ".") {
				continue
			}
			if _, err := os.Stat(filepath.Join(filepath.Dir(composeFile), source)); err != nil {
				t.Errorf("%s mounts what does not exist: %v", name, err)
			}
		}
		if shares := service.NetworkMode == "service:prometheus"; shares != (name == "grafana" || name == "kafka-bench") {
			t.Errorf("%s has network_mode %q", name, service.NetworkMode)
		}
	}
	version, err := os.ReadFile("../../../VERSION")
	if err != nil {
		t.Fatal(err)
	}
	kafka, tool := file.Services["kafka"], file.Services["kafka-bench"]
	if want := "apache/kafka:" + cluster.KafkaVersion; kafka.Image != want {
		t.Errorf("the image of Kafka is %s, want %s", kafka.Image, want)
	}
	if want := "kafka-bench:${KAFKA_BENCH_VERSION:-" + strings.TrimSpace(string(version)) + "}"; tool.Image != want {
		t.Errorf("the image of kafka-bench is %s, want %s", tool.Image, want)
	}
	var scraped struct {
		Jobs []struct {
			Static []struct{ Targets []string } `yaml:"static_configs"`
		} `yaml:"scrape_configs"`
	}
	readYAML(t, "../../../deploy/prometheus/prometheus.yml", &scraped)
	for _, flag := range []string{
		"--metrics=" + scraped.Jobs[0].Static[0].Targets[0], "--cluster-id=" + kafka.Environment["CLUSTER_ID"],
		"--brokers=" + strings.TrimPrefix(kafka.Environment["KAFKA_ADVERTISED_LISTENERS"], "PLAINTEXT://"),
	} {
		if !slices.Contains(tool.Command, flag) {
			t.Errorf("kafka-bench has %q, and lacks %s", tool.Command, flag)
		}
	}
}
