package cluster

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kafkabench.example/kafka-bench/internal/plan/scenario"
)

func TestAnotherPomIsAnotherFolder(t *testing.T) {
	h := Home{Dist: t.TempDir()}
	folders := map[string]string{}
	for _, v := range versions {
		other := v
		other.Log4j += "-other"
		for _, v := range []version{v, other} {
			dir := h.dist(v).Dir
			if former := folders[dir]; former != "" {
				t.Errorf("%s and %s have %s", former, v.Kafka+" with log4j "+v.Log4j, dir)
			}
			folders[dir] = v.Kafka + " with log4j " + v.Log4j
		}
	}
}

func TestVersionsBesideEachOther(t *testing.T) {
	fakeMaven(t, `for a; do case $a in -Dkafka=*) version=${a#-Dkafka=};; esac; done
mkdir -p "$lib" "$agent" && echo a > "$lib/kafka_2.13-$version.jar" && echo b > "$lib/kafka-tools-$version.jar"
echo agent > "$agent/jmx_prometheus_javaagent-1.0.1.jar"`)
	h := Home{Dist: t.TempDir()}
	older := Dist{Dir: filepath.Join(h.Dist, "kafka-4.2.0-00000000"), Version: "4.2.0"}
	for _, jar := range []string{filepath.Join(older.Lib(), "kafka_2.13-4.2.0.jar"),
		filepath.Join(older.Lib(), "kafka-tools-4.2.0.jar"), older.Agent()} {
		if err := os.MkdirAll(filepath.Dir(jar), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(jar, []byte(jar), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := older.writeManifest(); err != nil {
		t.Fatal(err)
	}
	copies := []Dist{older}
	for _, line := range scenario.KafkaVersions() {
		dist, err := h.KafkaDist(testContext(t), line, nil)
		if err != nil {
			t.Fatal(err)
		}
		if lineOf(dist.Version) != line {
			t.Errorf("Kafka %s is %s", line, dist.Version)
		}
		copies = append(copies, dist)
	}
	for _, dist := range copies {
		if err := dist.Verify(); err != nil {
			t.Errorf("Kafka %s: %v", dist.Version, err)
		}
	}
	if dist, err := h.KafkaDist(testContext(t), "", nil); err != nil || dist != copies[len(copies)-1] ||
		dist.Version != KafkaVersion {
		t.Errorf("the default is %+v, %v", dist, err)
	}
}

// make bench fetches the default version with the pom as it is, while the compiler runs.
func TestPomOfTheDefault(t *testing.T) {
	v, err := versionOf("")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<kafka>" + v.Kafka + "</kafka>", "<log4j>" + v.Log4j + "</log4j>"} {
		if !strings.Contains(string(pom), want) || v.Log4j1 {
			t.Errorf("the pom does not have %s", want)
		}
	}
}

func TestVersionsOfScenarios(t *testing.T) {
	var lines []string
	for _, v := range versions {
		lines = append(lines, v.Line)
	}
	if !slices.Equal(lines, scenario.KafkaVersions()) {
		t.Errorf("scenarios may name %v, and %v can be started", scenario.KafkaVersions(), lines)
	}
	_, err := Home{Dist: t.TempDir()}.KafkaDist(testContext(t), "3.8", nil)
	wantError(t, err, ErrInput, `"3.8"`, "3.9, 4.0, 4.1, 4.2, 4.3")
}
