//go:build full

package bench_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/rpc"
	"os"
	"runtime"
	"slices"
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"

	"kafkabench.example/kafka-bench/internal/kafka/access"
	"kafkabench.example/kafka-bench/internal/kafka/access/accesstest"
	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/kafka/driver/franz"
	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/bench"
	"kafkabench.example/kafka-bench/internal/run/remote"
)

type spy struct {
	pids []int
	seen []byte
	errs []error
}

func (s *spy) Began(string)             {}
func (s *spy) Interval(result.Interval) {}
func (s *spy) Event(e result.Event) {
	if pid, told := e.Data["pid"].(int); told {
		s.pids = append(s.pids, pid)
	}
	if e.Kind != "phase" || e.What != "measure" || runtime.GOOS != "linux" {
		return
	}
	for _, pid := range s.pids {
		for _, file := range []string{"cmdline", "environ"} {
			text, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, file))
			s.seen, s.errs = append(s.seen, text...), append(s.errs, err)
		}
	}
}

// Other users cannot see the password.
func TestSecuredProcesses(t *testing.T) {
	ca := accesstest.NewAuthority(t)
	settings := slices.Concat([]string{"security.protocol=SASL_SSL"}, ca.Trust(t), accesstest.Login(access.MechanismScram512, "alice", password))
	cfg := onTheClock(t, settings, kfake.TLS(ca.Server(t, false)), kfake.EnableSASL(), kfake.Superuser("SCRAM-SHA-512", "alice", password))
	s, err := scenario.Parse("secured.yaml", []byte(secured), "load.processes=2", "backpressure.controller=credit", "backpressure.max_lag=100000")
	if err != nil {
		t.Fatal(err)
	}
	watch := &spy{}
	cfg.Scenario, cfg.Worker, cfg.Watch = s, []string{os.Args[0], workerWord}, watch
	outcome, err := bench.Run(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	run := outcome.Run
	if run.Load.Scheduled != 200 || run.Delivery.Unique != 200 || run.Delivery.Lost != 0 {
		t.Errorf("%d scheduled, %d delivered, %d lost; want 200, 200, 0 (%q)", run.Load.Scheduled, run.Delivery.Unique, run.Delivery.Lost, run.Verdict.Reasons)
	}
	if b := run.Backpressure; b == nil || b.Processes != 2 || b.BoundRecords == nil || b.BoundRecords.Last != 100_000 {
		t.Errorf("the gates had %+v", b)
	}
	if runtime.GOOS == "linux" && (len(watch.pids) != 2 || !bytes.Contains(watch.seen, []byte(workerWord))) {
		t.Errorf("the processes were %v, and what can be seen of them %q (%v)", watch.pids, watch.seen, watch.errs)
	}
	if bytes.Contains(watch.seen, []byte(password)) {
		t.Error("the password can be seen")
	}
	wantNoSecret(t, outcome.Dir)
}

type pipes struct {
	io.Reader
	io.WriteCloser
}

// A worker ends with its standard input, even while it waits for a broker.
func TestProcessWhoseRunIsGone(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	in, tell := io.Pipe()
	hear, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- bench.Worker(context.Background(), in, out, func(string) (driver.Driver, error) { return franz.New(), nil })
	}()
	client := rpc.NewClient(pipes{hear, tell})
	call := client.Go(remote.PartName+".Open", remote.Opening{Assignment: remote.Assignment{
		Version: remote.Version, Driver: "franz-go", Brokers: []string{silent.Addr().String()},
		Scenario: []byte("name: gone\nload: {rate: 100/s, producers: 3, processes: 3}\nbackpressure: {controller: credit, max_lag: 1000}\n"),
		RunID:    "r", Topic: "t", Partitions: 1, Groups: []string{"g"}, Consumed: true,
		Parts: 3, Workers: []int{0},
	}}, new(remote.Opened), nil)
	conn, err := silent.Accept() // from now on the worker waits
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	select {
	case <-call.Done:
		t.Fatalf("it did not wait for the broker: %v", call.Error)
	default:
	}
	_ = tell.Close()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
