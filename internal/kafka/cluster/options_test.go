package cluster

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"kafkabench.example/kafka-bench/internal/plan/native"
)

func TestOptionsValidate(t *testing.T) {
	good := []KafkaOptions{
		{},
		{Brokers: 9, HeapBytes: 1 << 30},
		{Brokers: 2, Ports: []int{9092, 9093}, JVM: []string{"-XX:+UseZGC"}, Config: map[string]string{"num.io.threads": "2"}},
	}
	for _, opts := range good {
		if err := opts.Validate(); err != nil {
			t.Errorf("Validate(%+v) = %v", opts, err)
		}
	}
	bad := KafkaOptions{
		Brokers: 10, HeapBytes: 1000, Ports: []int{0, 7, 7},
		JVM:    []string{"-Xmx1g", "UseZGC"},
		Config: map[string]string{"node.id": "7", "a b": "c"},
	}
	wantError(t, bad.Validate(), ErrInput,
		"1 to 9 brokers, not 10", "at least 128 MiB", "3 ports for 10 brokers", "port 0 is not", "port 7 is named twice",
		"-Xmx1g", `"UseZGC"`, "node.id", `"a b"`)
	_, err := testHome(t).StartKafka(testContext(t), bad)
	wantError(t, err, ErrInput, "1 to 9 brokers")
}

func TestSharedProperties(t *testing.T) {
	tests := []struct{ brokers, replication, minInSync string }{{"1", "1", "1"}, {"2", "2", "1"}, {"3", "3", "2"}, {"9", "3", "2"}}
	for _, test := range tests {
		n, _ := strconv.Atoi(test.brokers)
		props := sharedProperties(n)
		for _, topic := range []string{"transaction.state.log", "share.coordinator.state.topic"} {
			if props[topic+".replication.factor"] != test.replication || props[topic+".min.isr"] != test.minInSync {
				t.Errorf("%d brokers, %s: replication %s, min ISR %s; want %s and %s", n, topic,
					props[topic+".replication.factor"], props[topic+".min.isr"], test.replication, test.minInSync)
			}
		}
	}
}

func TestBrokerProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, MaxBrokers).Draw(t, "brokers")
		l := layout{clusterID: newClusterID(), dir: "/c"}
		for i := range n {
			p := place{id: int32(i + 1), port: 20000 + i}
			if i < maxVoters {
				p.controllerPort = 21000 + i
			}
			l.brokers = append(l.brokers, p)
		}
		seen := make(map[string]bool)
		controllers := 0
		for _, p := range l.brokers {
			props := l.brokerProperties(p, sharedProperties(n))
			for _, name := range []string{"node.id", "listeners", "log.dirs"} {
				if seen[name+props[name]] {
					t.Fatalf("two brokers with %s = %s", name, props[name])
				}
				seen[name+props[name]] = true
			}
			if props["process.roles"] == "broker,controller" {
				controllers++
				if want := fmt.Sprintf("%d@%s:%d", p.id, host, p.controllerPort); !slices.Contains(strings.Split(props["controller.quorum.voters"], ","), want) {
					t.Fatalf("%s is not among the voters %s", want, props["controller.quorum.voters"])
				}
			}
			for _, name := range native.OwnProperties {
				if strings.HasPrefix(name, "broker.id") || name == "log.dir" || strings.Contains(name, "metadata") || strings.HasSuffix(name, "bootstrap.servers") {
					continue
				}
				if props[name] == "" {
					t.Fatalf("%s is not set", name)
				}
			}
		}
		if controllers != min(n, maxVoters) {
			t.Fatalf("%d controllers for %d brokers", controllers, n)
		}
	})
}

func TestFormatProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		// Kafka trims values, so no value needs leading blanks.
		value := strings.TrimSpace(rapid.StringMatching(`[ -~\n\r\\]*`).Draw(t, "value"))
		text := string(formatProperties(map[string]string{"a.name": value}))
		line, found := strings.CutPrefix(text, "a.name=")
		if !found || strings.Count(text, "\n") != 1 {
			t.Fatalf("%q for %q", text, value)
		}
		got := strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\r`, "\r").Replace(strings.TrimSuffix(line, "\n"))
		if got != value {
			t.Fatalf("wrote %q, read %q", value, got)
		}
	})
}

func TestJVMOptions(t *testing.T) {
	options := jvmOptions(512<<20, []string{"-Dx=y"})
	for _, want := range []string{"-Xmx524288k", "-Xms524288k", "-XX:+UseG1GC", "-Dx=y"} {
		if !slices.Contains(options, want) {
			t.Errorf("%s is not in %v", want, options)
		}
	}
	if options := jvmOptions(1<<30, []string{"-XX:+UseZGC"}); slices.Contains(options, "-XX:+UseG1GC") {
		t.Errorf("two collectors: %v", options)
	}
}

func TestFreePorts(t *testing.T) {
	ports, err := freePorts(2 * MaxBrokers)
	if err != nil {
		t.Fatal(err)
	}
	for i, port := range ports {
		if port < 1024 || port >= 32768 || slices.Contains(ports[:i], port) { // Linux uses 32768 and above for outgoing connections
			t.Errorf("port %d in %v", port, ports)
		}
	}
}

func TestNewClusterID(t *testing.T) {
	for range 1000 {
		id := newClusterID()
		if raw, err := base64.RawURLEncoding.DecodeString(id); err != nil || len(raw) != 16 || strings.HasPrefix(id, "-") {
			t.Fatalf("newClusterID() = %q", id)
		}
	}
}

func TestLastLines(t *testing.T) {
	text := "[1] INFO a\n\ta.key = value\n (logger)\n[2] ERROR b\njava.lang.X: why\n\tat org.apache\n\t... 5 more\n\n[3] INFO c\n"
	if got, want := lastLines(text, 10), []string{"[2] ERROR b", "java.lang.X: why"}; !slices.Equal(got, want) {
		t.Errorf("lastLines() = %q, want %q", got, want)
	}
	if got := lastLines(text, 1); !slices.Equal(got, []string{"java.lang.X: why"}) {
		t.Errorf("lastLines(1) = %q", got)
	}
	if got := lastLines("[1] INFO a\n[2] INFO b\n", 1); !slices.Equal(got, []string{"[2] INFO b"}) {
		t.Errorf("lastLines of INFO alone = %q", got)
	}
	if got := tailFile("/no/such/file", 3); got != nil {
		t.Errorf("tailFile of nothing = %q", got)
	}
}
