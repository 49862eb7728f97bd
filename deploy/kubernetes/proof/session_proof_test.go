//go:build proof

package proof_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
)

// agents of each run, two on each of two nodes.
const agents = 4

// The paths of this project's programs, from this test's folder.
const (
	kafkaBench  = "../../../bin/kafka-bench"
	brokerTool  = "../../../bin/tools/broker"
	imageTool   = "../../../bin/tools/image"
	agentsImage = "../../../build/kafka-bench.tar"
)

// password is in the client properties of all agents and of the coordinator. The broker asks for no
// password.
const password = "correct-horse-battery-staple"

const load = `
name: proof
topic: {partitions: 8}
load: {rate: 200/s, producers: 4, record: {size: 100B}}
consume: {consumers: 4}
phases: {warmup: 3s, measure: 12s, drain: 10s}
`

// lab is a Kubernetes, and a Kafka that its pods reach.
type lab struct {
	*controlPlane
	nodes     []*machine
	brokers   string
	clusterID string
	version   string // of the agents' image
}

// startKafka starts a broker in the machine of the control plane.
func (l *lab) startKafka(t *testing.T) {
	cmd := l.command(absolute(t, brokerTool), "-host", l.address())
	cmd.Stderr = os.Stderr
	in, out := pipes(t, cmd)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("the broker: %v", err)
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("the broker: %v", err)
	}
	if _, err := fmt.Sscan(line, &l.brokers, &l.clusterID); err != nil {
		t.Fatalf("the broker says %q: %v", line, err)
	}
}

func absolute(t *testing.T, path string) string {
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// session is the agents and the coordinator of one run. Its name is also that of the namespace, the
// release and the Job.
type session struct {
	*lab
	name, folder string
	key          string       // the content of session.key
	logs         *exec.Cmd    // follows what the agents print
	printed      lockedBuffer // by agents
}

// newSession makes the namespace and the Secrets, as docs/machines.md describes.
func (l *lab) newSession(t *testing.T, name string) *session {
	s := &session{lab: l, name: name, folder: t.TempDir()}
	s.key = run(t, kafkaBench, "agent", "key")
	files := map[string]string{"session.key": s.key, "client.properties": properties, "load.yaml": load}
	for file, content := range files {
		if err := os.WriteFile(s.file(file), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	l.kubectl(t, "create", "namespace", name)
	t.Cleanup(func() {
		if _, err := l.try("kubectl", "delete", "namespace", name, "--timeout=2m"); err != nil {
			t.Error(err)
		}
	})
	secrets := map[string]string{"kafka-bench-key": "session.key", "kafka-bench-client": "client.properties"}
	for secret, file := range secrets {
		l.kubectl(t, "-n", name, "create", "secret", "generic", secret, "--from-file="+s.file(file))
	}
	return s
}

const properties = `security.protocol=PLAINTEXT
sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required \
  username="alice" password="` + password + `";
`

func (s *session) file(name string) string { return filepath.Join(s.folder, name) }

// install installs the chart, and returns when all agents run.
func (s *session) install(t *testing.T) {
	t.Helper()
	values := fmt.Sprintf("image: {repository: %skafka-bench, tag: %q}\nagents: %d\nbrokers: %s\n"+
		"resources: {cpu: 1, memory: 512Mi}\noneAgentPerNode: false\n", registry, s.version, agents, s.brokers)
	if err := os.WriteFile(s.file("values.yaml"), []byte(values), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := s.try("helm", "install", s.name, absolute(t, "../chart"), "-n", s.name, "-f", s.file("values.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	await(t, 2*time.Minute, "all agents run", func() bool {
		running := 0
		for _, pod := range s.pods(t) {
			if pod.Status.Phase == core.PodRunning {
				running++
			}
		}
		return running == agents
	})
	s.logs = s.client("kubectl", "-n", s.name, "logs", "-f", "--prefix", "--tail=-1", "-l", selector)
	s.logs.Stdout, s.logs.Stderr = &s.printed, os.Stderr
	if err := s.logs.Start(); err != nil {
		t.Fatal(err)
	}
}

const selector = "app.kubernetes.io/name=kafka-bench-agent"

// pods are the pods of the session, by index.
func (s *session) pods(t *testing.T) []core.Pod {
	t.Helper()
	var list core.PodList
	s.get(t, &list, "-n", s.name, "pods", "-l", selector)
	slices.SortFunc(list.Items, func(a, b core.Pod) int {
		return strings.Compare(a.Labels[batch.JobCompletionIndexAnnotation], b.Labels[batch.JobCompletionIndexAnnotation])
	})
	return list.Items
}

// job returns the condition in which the Job has ended.
func (s *session) job(t *testing.T) (ended batch.JobConditionType) {
	t.Helper()
	await(t, 3*time.Minute, "the Job has ended", func() bool {
		var job batch.Job
		s.get(t, &job, "-n", s.name, "job", s.name)
		for _, c := range job.Status.Conditions {
			if c.Status == core.ConditionTrue && (c.Type == batch.JobComplete || c.Type == batch.JobFailed) {
				ended = c.Type
			}
		}
		return ended != ""
	})
	return ended
}

// end waits for the ends of all agents, and checks that no secret is in what they print.
func (s *session) end(t *testing.T) {
	t.Helper()
	if err := s.logs.Wait(); err != nil {
		t.Errorf("kubectl logs: %v", err)
	}
	printed := s.printed.String()
	t.Logf("the agents print:\n%s", printed)
	if n := strings.Count(printed, "has joined the session"); n < agents {
		t.Errorf("%d agents have printed that they joined, want %d", n, agents)
	}
	for name, secret := range map[string]string{"key": strings.TrimSpace(s.key), "password": password} {
		if strings.Contains(printed, secret) {
			t.Errorf("the agents print the %s", name)
		}
	}
}
