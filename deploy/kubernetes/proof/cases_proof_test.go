//go:build proof

// Package proof_test runs agents as pods of a real Kubernetes, with a real Kafka, on one computer.
//
// Kubernetes is built from its module. etcd, containerd, runc and the CNI plugins are Debian's.
// Each of the two nodes is a machine: a kubelet and a containerd in namespaces of their own, with
// their own network, mounts and process numbers. The control plane, Kafka and the coordinator are
// in a third machine. There is no image registry, no kube-proxy and no DNS: nodes import the
// images, and agents have the address of the broker. The computer must be idle otherwise: late
// agents make a run invalid.
//
// Files to know: cases_proof_test.go (what is shown), session_proof_test.go (agents),
// coordinator_proof_test.go, machine_proof_test.go, control_proof_test.go, node_proof_test.go,
// programs_proof_test.go, pause (the first process of each pod).
package proof_test

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
)

var version = flag.String("image", "development", "the `TAG` of build/kafka-bench.tar")

func TestKubernetes(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Fatal("only root makes machines of namespaces: run make proof-kubernetes as root")
	}
	for _, program := range []string{"etcd", "containerd", "runc", "/usr/lib/cni/bridge"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Fatalf("%v; on Debian install etcd-server, containerd, runc and containernetworking-plugins", err)
		}
	}
	l := startLab(t)
	t.Run("complete", l.complete)
	t.Run("deleted", l.deleted)
	t.Run("late", l.late)
	t.Run("collected", l.collected)
}

// startLab starts Kubernetes with two nodes, and Kafka.
func startLab(t *testing.T) *lab {
	programs, logs := buildPrograms(t), t.TempDir()
	pause := filepath.Join(t.TempDir(), "pause.tar")
	run(t, imageTool, "-program", "./pause", "-version", "proof", "-o", pause)
	t.Cleanup(func() { // after the machines have ended
		if t.Failed() {
			printLogs(t, logs)
		}
	})
	l := &lab{controlPlane: startControlPlane(t, programs, logs), version: *version}
	l.nodes = startNodes(t, l.controlPlane, 2, images{"pause": pause, "kafka-bench": absolute(t, agentsImage)}, logs)
	l.startKafka(t)
	return l
}

// complete: the coordinator is first. Four agents on two nodes make a valid run.
func (l *lab) complete(t *testing.T) {
	s := l.newSession(t, "complete")
	lead := s.coordinate(t)
	s.install(t)
	on := make(map[string]int)
	for _, pod := range s.pods(t) {
		on[pod.Spec.NodeName]++
	}
	if len(on) != len(l.nodes) {
		t.Errorf("the agents are on the nodes %v, want %d", on, len(l.nodes))
	}
	if code := lead.exit(t); code != 0 {
		t.Errorf("the coordinator exits with %d", code)
	}
	s.outcome(t, "out").complete(t)
	if end := s.job(t); end != batch.JobComplete {
		t.Errorf("the Job is %s", end)
	}
	s.end(t)
}

// deleted: a pod that is deleted during the load makes the run invalid, and the verdict names it.
func (l *lab) deleted(t *testing.T) {
	s := l.newSession(t, "deleted")
	s.install(t)
	lead := s.coordinate(t)
	s.awaitLoad(t)
	l.kubectl(t, "-n", s.name, "delete", "pod", s.pods(t)[2].Name, "--wait=false")
	if code := lead.exit(t); code != 1 {
		t.Errorf("the coordinator exits with %d, want 1", code)
	}
	verdict := s.outcome(t, "out").Verdict
	named := slices.ContainsFunc(verdict.Reasons, func(reason string) bool {
		return strings.HasPrefix(reason, "agent 2 (deleted-2)")
	})
	if verdict.Status != "invalid" || !named {
		t.Errorf("the run is %+v, want it to be invalid because of agent 2", verdict)
	}
	t.Logf("the Job is %s", s.job(t))
	s.end(t)
}

// late: agents wait for a coordinator. Meanwhile the test checks that they have no rights.
func (l *lab) late(t *testing.T) {
	s := l.newSession(t, "late")
	s.install(t)
	for _, pod := range s.pods(t) {
		hasNoRights(t, pod)
	}
	// Longer than an agent takes to find a session that is there.
	time.Sleep(10 * time.Second)
	if printed := s.printed.String(); strings.Contains(printed, "has joined") {
		t.Errorf("agents joined a session that has no coordinator:\n%s", printed)
	}
	if code := s.coordinate(t).exit(t); code != 0 {
		t.Errorf("the coordinator exits with %d", code)
	}
	s.outcome(t, "out").complete(t)
	if end := s.job(t); end != batch.JobComplete {
		t.Errorf("the Job is %s", end)
	}
	s.end(t)
}

// collected: the coordinator is killed during the load, and collect makes the run.
func (l *lab) collected(t *testing.T) {
	s := l.newSession(t, "collected")
	s.install(t)
	lead := s.coordinate(t)
	s.awaitLoad(t)
	lead.kill(t)
	lead.exit(t)
	await(t, 2*time.Minute, "all agents have handed in", func() bool {
		return strings.Count(s.printed.String(), "handed in") == agents
	})
	collect := s.kafkaBench(t, "collect", "--session", s.name, "--brokers", s.brokers, "--key", s.file("session.key"),
		"--command-config", s.file("client.properties"), "--out", s.file("collected"), "--delete")
	if code := collect.exit(t); code != 0 {
		t.Errorf("collect exits with %d", code)
	}
	s.outcome(t, "collected").complete(t)
	if end := s.job(t); end != batch.JobComplete {
		t.Errorf("the Job is %s", end)
	}
	s.end(t)
}

// hasNoRights checks that a running pod and its process have no rights.
func hasNoRights(t *testing.T, pod core.Pod) {
	t.Helper()
	spec, inside := pod.Spec, pod.Spec.Containers[0].SecurityContext
	if *spec.AutomountServiceAccountToken || *spec.SecurityContext.RunAsUser != 65532 || !*inside.ReadOnlyRootFilesystem ||
		!slices.Equal(inside.Capabilities.Drop, []core.Capability{"ALL"}) {
		t.Errorf("the pod %s has the security contexts %v and %v", pod.Name, spec.SecurityContext, inside)
	}
	process := processOf(t, pod)
	status, err := os.ReadFile(process + "/status")
	if err != nil {
		t.Fatal(err)
	}
	user := strings.Repeat("\t65532", 4)
	for _, line := range []string{
		"Uid:" + user, "Gid:" + user, "NoNewPrivs:\t1", "Seccomp:\t2",
		"CapInh:\t" + none, "CapPrm:\t" + none, "CapEff:\t" + none, "CapBnd:\t" + none, "CapAmb:\t" + none,
	} {
		if !strings.Contains(string(status), "\n"+line+"\n") {
			t.Errorf("the process of %s does not have %q:\n%s", pod.Name, line, status)
		}
	}
	mounts, err := os.ReadFile(process + "/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	readOnly := false
	for line := range strings.Lines(string(mounts)) {
		at := strings.Fields(line) // number, parent, device, root, mount point, options
		readOnly = readOnly || at[4] == "/" && slices.Contains(strings.Split(at[5], ","), "ro")
	}
	if !readOnly || strings.Contains(string(mounts), "serviceaccount") {
		t.Errorf("the process of %s has a token, or a root that it may write to:\n%s", pod.Name, mounts)
	}
}

// none is an empty set of capabilities.
const none = "0000000000000000"

// processOf returns the folder in /proc of the agent in a pod.
func processOf(t *testing.T, pod core.Pod) string {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cgroup")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		in, _ := os.ReadFile(file) // a process may have ended
		program, _ := os.Readlink(filepath.Dir(file) + "/exe")
		if strings.Contains(string(in), string(pod.UID)) && program == "/kafka-bench" {
			return filepath.Dir(file)
		}
	}
	t.Fatalf("the pod %s has no process", pod.Name)
	return ""
}

// printLogs prints the end of what each daemon has logged.
func printLogs(t *testing.T, folder string) {
	files, _ := filepath.Glob(folder + "/*/*.log")
	for _, file := range files {
		text, err := os.ReadFile(file)
		t.Logf("%s, %v:\n%s", file, err, text[max(0, len(text)-3_000):])
	}
}

// lockedBuffer keeps what a process prints; others may read it meanwhile.
type lockedBuffer struct {
	mu   sync.Mutex
	text strings.Builder
}

// Write implements io.Writer.
func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

// String returns all that was written.
func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
