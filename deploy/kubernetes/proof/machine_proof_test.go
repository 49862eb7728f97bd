//go:build proof

package proof_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// The networks: machine i has the address i of machineNet, and its pods have 10.214.i.*.
const (
	machineNet = "10.213.78."
	podNet     = "10.214."
)

// cgroups is the folder of a machine in each hierarchy of cgroups.
func (m *machine) cgroups() string { return "/kafka-bench-proof-" + m.name }

// machine has a network, mounts and process numbers of its own. When this test ends, in whatever
// way, the machine ends too: its processes, mounts and network are gone, and its cgroups removed.
type machine struct {
	name    string
	number  int
	pid     int // of its first process
	logs    string
	daemons []*exec.Cmd
}

// firstProcess prepares a machine, prints that the machine has started, and waits for the end of
// its input. It hides the folders that daemons write to. The kubelet would set some sysctls of the
// whole computer: instead it finds files that already have the wanted values. When CPU is scarce,
// all pods of a node together would weigh as much as one process outside: so they get the weight of
// twenty.
const firstProcess = `
mount --make-rprivate /
mount --make-rshared /
mount -t proc proc /proc
for folder in /run /var/lib /var/log; do mount -t tmpfs tmpfs $folder; done
for setting in vm/overcommit_memory=1 vm/panic_on_oom=0 kernel/panic=10 kernel/panic_on_oops=1 \
    kernel/keys/root_maxkeys=1000000 kernel/keys/root_maxbytes=25000000; do
  key=${setting%=*}
  mkdir -p /run/sysctl/${key%/*}
  echo ${setting#*=} > /run/sysctl/$key
  mount --bind /run/sysctl/$key /proc/sys/$key
done
ip link set lo up
all=/sys/fs/cgroup/cgroup.procs # of version 2
[ -e $all ] || all='/sys/fs/cgroup/*/cgroup.procs'
for file in $all; do
  mkdir -p ${file%/*}$0
  [ ! -e ${file%/*}$0/cpu.shares ] || echo 20480 > ${file%/*}$0/cpu.shares
done
echo started
read -r _ || true
kill -9 -1 || true
for try in $(seq 100); do
  left=
  for file in $all; do
    [ ! -d ${file%/*}$0 ] || find ${file%/*}$0 -depth -type d -exec rmdir {} + 2> /dev/null || left=1
  done
  [ "$left" ] || exit 0
  sleep 0.1
done
echo "cgroups $0 are left" >&2
exit 1
`

// boot starts a machine. Its logs are in a folder of its name.
func boot(t *testing.T, name string, number int, logs string) *machine {
	t.Helper()
	m := &machine{name: name, number: number, logs: filepath.Join(logs, name)}
	if err := os.MkdirAll(m.logs, 0o755); err != nil {
		t.Fatal(err)
	}
	first := exec.Command("sh", "-ec", firstProcess, m.cgroups())
	first.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET | syscall.CLONE_NEWNS | syscall.CLONE_NEWPID}
	first.Stderr = os.Stderr
	in, out := pipes(t, first)
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		if err := first.Wait(); err != nil {
			t.Errorf("machine %s: %v", name, err)
		}
		for _, d := range m.daemons {
			_ = d.Wait()
		}
	})
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatalf("machine %s: %q, %v", name, line, err)
	}
	m.pid = first.Process.Pid
	return m
}

func pipes(t *testing.T, cmd *exec.Cmd) (stdin io.WriteCloser, stdout io.Reader) {
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	return in, out
}

// lead gives a machine the bridge that joins all others.
func (m *machine) lead(t *testing.T) {
	m.run(t, "ip", "link", "add", "machines", "type", "bridge")
	m.run(t, "ip", "address", "add", m.address()+"/24", "dev", "machines")
	m.run(t, "ip", "link", "set", "machines", "up")
}

// join puts a machine on the bridge of another.
func (m *machine) join(t *testing.T, leader *machine) {
	// Only the network namespace is entered: ip finds the machine's PID in the computer's /proc.
	run(t, "nsenter", "--target", strconv.Itoa(leader.pid), "--net", "ip", "link", "add", m.name, "type", "veth",
		"peer", "name", "eth0", "netns", strconv.Itoa(m.pid))
	leader.run(t, "ip", "link", "set", m.name, "master", "machines", "up")
	m.run(t, "ip", "address", "add", m.address()+"/24", "dev", "eth0")
	m.run(t, "ip", "link", "set", "eth0", "up")
	m.run(t, "ip", "route", "add", "default", "via", leader.address())
}

func (m *machine) address() string { return fmt.Sprint(machineNet, m.number) }

// pods is the network of the machine's pods.
func (m *machine) pods() string { return fmt.Sprint(podNet, m.number, ".0/24") }

// command returns a command in the machine.
func (m *machine) command(words ...string) *exec.Cmd {
	enter := []string{"--target", strconv.Itoa(m.pid), "--net", "--mount", "--pid", "--"}
	return exec.Command("nsenter", append(enter, words...)...)
}

// run runs a command in the machine and returns what it prints.
func (m *machine) run(t *testing.T, words ...string) string {
	t.Helper()
	return run(t, m.command(words...).Args...)
}

// start starts a daemon, which ends with the machine.
func (m *machine) start(t *testing.T, words ...string) {
	t.Helper()
	file, err := os.Create(filepath.Join(m.logs, filepath.Base(words[0])+".log"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	d := m.command(words...)
	d.Stdout, d.Stderr = file, file
	if err := d.Start(); err != nil {
		t.Fatal(err)
	}
	m.daemons = append(m.daemons, d)
}

func (m *machine) write(t *testing.T, path, content string) {
	t.Helper()
	cmd := m.command("sh", "-ec", `mkdir -p "$(dirname "$0")"; cat > "$0"`, path)
	cmd.Stdin = strings.NewReader(content)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("write %s in %s: %v: %s", path, m.name, err, out)
	}
}
