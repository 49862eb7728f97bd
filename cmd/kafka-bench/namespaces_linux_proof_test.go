//go:build proof

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/kafka/cluster/clustertest"
	"kafkabench.example/kafka-bench/internal/result"
)

// The bridge has the first address, agent i the address i + 2.
const (
	proofBridge = "kbproof"
	proofNet    = "10.213.77."
)

// aheads are the seconds by which the monotonic clocks of the agents' time namespaces are ahead of
// this machine's.
var aheads = []int64{0, 7_200, 86_400}

func netspace(agent int) string { return fmt.Sprintf("kbproof%d", agent) }

// Agents find their clock offsets by echoes: each offset and each result is within its stated
// error.
func TestAgentsInNamespaces(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Fatal("only root makes network namespaces: run make proof-agents as root")
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if userCache != "" {
		t.Setenv("XDG_CACHE_HOME", userCache) // Kafka is there
	}
	as := func(cmd *exec.Cmd, arguments ...string) *exec.Cmd {
		cmd.Env = append(os.Environ(), childVariable+"="+strings.Join(arguments, "\n"))
		return cmd
	}
	joinNamespaces(t)
	k := brokerOnBridge(t)
	key := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(key, []byte(newKey()), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	said := make([]strings.Builder, len(aheads))
	agents := make([]*exec.Cmd, len(aheads))
	for i, ahead := range aheads {
		agents[i] = as(exec.CommandContext(ctx, "ip", "netns", "exec", netspace(i),
			"unshare", "--time", "--monotonic", strconv.FormatInt(ahead, 10), "--fork", "--kill-child", program),
			"agent", "--session", "proof", "--index", strconv.Itoa(i), "--of", strconv.Itoa(len(aheads)),
			"--brokers", strings.Join(k.Bootstrap(), ","), "--key", key, "--spool", t.TempDir(), "--clock", "echo")
		agents[i].Stdout, agents[i].Stderr = &said[i], &said[i]
		if err := agents[i].Start(); err != nil {
			t.Fatal(err)
		}
	}
	out := t.TempDir()
	lead := as(exec.CommandContext(ctx, program), "run", scenarioFile(t, apartYAML), "--senders", "1", "--receivers", "2",
		"--brokers", strings.Join(k.Bootstrap(), ","), "--session", "proof", "--key", key, "--out", out,
		"--cluster-id", k.Info().ID)
	text, err := lead.CombinedOutput()
	t.Logf("%s", text)
	if err != nil {
		cancel() // otherwise the agents wait for another coordinator
	}
	for i, cmd := range agents {
		if ended := cmd.Wait(); ended != nil {
			t.Errorf("agent %d: %v", i, ended)
		}
		t.Logf("agent %d: %s", i, said[i].String())
	}
	if err != nil {
		t.Fatal(err)
	}
	offsets := 0
	for i := range agents {
		for _, found := range offsetOf.FindAllStringSubmatch(said[i].String(), -1) {
			of, _ := strconv.Atoi(found[1])
			ns, _ := strconv.ParseInt(found[2], 10, 64)
			within, _ := strconv.ParseInt(found[3], 10, 64)
			wrong := ns - (aheads[of]-aheads[i])*1e9
			offsets++
			t.Logf("agent %d took the clock of agent %d for %d ns off its own, wrong by %d ns, within %d ns", i, of, ns, wrong, within)
			if max(wrong, -wrong) > within {
				t.Errorf("the error of agent %d does not cover the truth", i)
			}
		}
	}
	if offsets != 2 {
		t.Errorf("%d offsets were found, want those of both receivers", offsets)
	}
	runs, err := filepath.Glob(filepath.Join(out, "*", "run.json"))
	if err != nil || len(runs) != 1 {
		t.Fatalf("the runs are %v, %v", runs, err)
	}
	recorded, err := result.Read(filepath.Dir(runs[0]))
	if err != nil {
		t.Fatal(err)
	}
	r := recorded.Run
	e2e := r.Time["e2e_service_time"]
	t.Logf("e2e service time: min %d, p50 %d, p99 %d ns, within %d ns", e2e.MinNs, e2e.P50Ns, e2e.P99Ns, e2e.ErrorNs)
	if e2e.ErrorNs <= 0 || e2e.MinNs+e2e.ErrorNs < 0 || e2e.Count == 0 {
		t.Errorf("the e2e service time is %+v", e2e)
	}
	for _, a := range r.Agents {
		if a.ClockErrorNs == nil {
			t.Errorf("%s does not know its clock", a)
			continue
		}
		t.Logf("%s: clock within %d ns, first round at %d ns, crossed %d", a, *a.ClockErrorNs, *a.StartedNs, a.Counts.Crossed)
	}
}

var offsetOf = regexp.MustCompile(`the clock of agent (\d+) is ahead by (-?\d+) ns, within (\d+) ns`)

const apartYAML = `
name: apart
topic: {partitions: 4}
load: {rate: 1k/s, producers: 2, record: {size: 100B}}
consume: {consumers: 2}
phases: {warmup: 2s, measure: 8s, drain: 10s}
`

func scenarioFile(t *testing.T, yaml string) string {
	file := filepath.Join(t.TempDir(), "apart.yaml")
	if err := os.WriteFile(file, []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// joinNamespaces removes leftovers before the test.
func joinNamespaces(t *testing.T) {
	remove := func() {
		for i := range aheads {
			_ = exec.Command("ip", "link", "delete", fmt.Sprint("kbveth", i)).Run() // a namespace deletes it late
			_ = exec.Command("ip", "netns", "delete", netspace(i)).Run()
		}
		_ = exec.Command("ip", "link", "delete", proofBridge).Run()
	}
	remove()
	t.Cleanup(remove)
	do := func(command string) {
		words := strings.Fields(command)
		if out, err := exec.Command("ip", words...).CombinedOutput(); err != nil {
			t.Fatalf("ip %s: %v: %s", command, err, out)
		}
	}
	do("link add " + proofBridge + " type bridge")
	do("address add " + proofNet + "1/24 dev " + proofBridge)
	do("link set " + proofBridge + " up")
	for i := range aheads {
		space, cable := netspace(i), fmt.Sprintf("kbveth%d", i)
		do("netns add " + space)
		do("link add " + cable + " type veth peer name eth0 netns " + space)
		do("link set " + cable + " master " + proofBridge + " up")
		do("-n " + space + " address add " + fmt.Sprint(proofNet, i+2) + "/24 dev eth0")
		do("-n " + space + " link set eth0 up")
		do("-n " + space + " link set lo up")
	}
}

func brokerOnBridge(t *testing.T) *cluster.Kafka {
	home, err := cluster.UserHome()
	if err != nil {
		t.Fatal(err)
	}
	k, err := home.StartKafka(t.Context(), cluster.KafkaOptions{
		Host: proofNet + "1", Config: clustertest.Settings(), Progress: func(s string) { t.Log(s) },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := k.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
	return k
}
