package remote

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/load"
	"kafkabench.example/kafka-bench/internal/measure/latency"
	"kafkabench.example/kafka-bench/internal/measure/ledger"
)

// join opens a group on the tape in so many processes, ready to read once its axis
// is set.
func join(t testing.TB, axis *load.Axis, processes int, change func(*load.GroupConfig)) *Consumers {
	t.Helper()
	cfg := reading(axis)
	if change != nil {
		change(&cfg)
	}
	cs, err := OpenConsumers(ConsumersConfig{
		Group: cfg, Driver: "tape", Axis: axis, Processes: processes,
		Start: func(place int) (*Child, error) { return StartChild(place, childCommand) },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cs.Stop(context.Background()) })
	ready, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := cs.AwaitReady(ready); err != nil {
		t.Fatal(err)
	}
	return cs
}

// consumers is what both kinds of groups have.
type consumers interface {
	Reached() []load.Reached
	Positions() []load.Reached
	Received() load.Received
	Counts() load.MemberCounts
	Receivers() []*ledger.Receiver
	AddTo(*latency.Collector)
	Stop(context.Context)
	Workers() int
}

// got is all that a run learns of its receiving side, once it has stopped.
type got struct {
	reached  []load.Reached
	agree    bool // the positions alone say the same
	received load.Received
	books    ledger.Books
	counts   map[latency.Metric]int64
	workers  int
}

// readToEnd waits until a group has come to the end of every partition.
func readToEnd(t *testing.T, g consumers) {
	t.Helper()
	behind := func(r load.Reached) bool { return r.Position < tapeRecords }
	for deadline := time.Now().Add(20 * time.Second); slices.ContainsFunc(g.Reached(), behind); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("it came to %+v", g.Reached())
		}
	}
}

// sent are the books of who has sent what is on the tape.
func sent(partitions int) []*ledger.Sender {
	s := ledger.NewSender(0, partitions)
	for p := range int32(partitions) {
		for offset := range int64(tapeRecords) {
			s.Next(p, offset >= tapeRecords/10)
			s.Acked(p, uint64(offset), offset)
		}
	}
	return []*ledger.Sender{s}
}

// learn stops a group and says what a run learns of it.
func learn(g consumers, collector *latency.Collector) (all got) {
	g.Stop(context.Background())
	collector.Collect()
	all.reached, all.received, all.workers = g.Reached(), g.Received(), g.Workers()
	all.agree = slices.EqualFunc(g.Positions(), all.reached, func(p, r load.Reached) bool {
		return p.Position == r.Position && p.At == r.At && p.Delivered == r.Delivered
	})
	all.books = ledger.Close(sent(len(all.reached)), g.Receivers(), func(int32) int64 { return tapeRecords })
	all.counts = make(map[latency.Metric]int64)
	for m := range latency.Metric(latency.NumMetrics) {
		all.counts[m] = collector.Totals(true, m).Count + collector.Totals(false, m).Count
	}
	for i := range all.reached { // the machine's affair
		all.reached[i].At = 0
	}
	all.received.ServiceNs = 0
	return all
}

// TestConsumersOfSeveralProcesses wants of several processes what one says.
func TestConsumersOfSeveralProcesses(t *testing.T) {
	for _, stamped := range []bool{true, false} {
		for _, processes := range []int{1, 2, 3} {
			t.Run(fmt.Sprintf("%d processes, stamped %v", processes, stamped), func(t *testing.T) {
				change := func(cfg *load.GroupConfig) { cfg.Stamped = stamped }
				hereAxis, axis := load.NewAxis(), load.NewAxis()
				cfg := reading(hereAxis)
				change(&cfg)
				var hereCollector, collector latency.Collector
				hereAxis.Set(0, time.Minute)
				here, err := load.StartGroup(cfg)
				if err != nil {
					t.Fatal(err)
				}
				here.AddTo(&hereCollector)

				axis.Set(0, time.Minute)
				apart := join(t, axis, processes, change)
				apart.AddTo(&collector)
				if err := apart.CanKill(); (err == nil) != (processes == 3) {
					t.Errorf("of %d processes a member can be killed: %v", processes, err)
				}
				readToEnd(t, here)
				readToEnd(t, apart)
				for range 3 { // as a run does while it goes on
					collector.Collect()
				}
				want, have := learn(here, &hereCollector), learn(apart, &collector)
				want.counts[latency.PollTime], have.counts[latency.PollTime] = 0, 0
				if !reflect.DeepEqual(have, want) || !have.agree {
					t.Errorf("%d processes read\n%+v\none\n%+v", processes, have, want)
				}
				if stamped && (want.books.Measured.Unique != 5*tapeRecords*9/10 || want.books.Approximate) {
					t.Errorf("the books are %+v", want.books)
				}
				if err := errors.Join(apart.Err(), apart.Dead()); err != nil {
					t.Error(err)
				}
				if n := len(apart.Processes()); n != processes || slices.ContainsFunc(apart.Processes(), func(p *Process) bool { return !gone(p.PID()) }) {
					t.Errorf("%d processes, and some are left", n)
				}
				if s := apart.Settings(); len(s) != 1 || s[0].Value != "1" {
					t.Errorf("the settings are %v", s)
				}
			})
		}
	}
}

// A process that is killed by a fault leaves its books, and its member may come
// again in another process. On the tape it then reads all from the start: what it was
// handed before comes twice, and is known to.
func TestKilledProcess(t *testing.T) {
	axis := load.NewAxis()
	axis.Set(0, time.Minute)
	cs := join(t, axis, 3, nil)
	var collector latency.Collector
	cs.AddTo(&collector)
	time.Sleep(50 * time.Millisecond)
	pid := cs.places[1].process.PID()
	loss, err := cs.Kill(1)
	if err != nil || !slices.Equal(loss.Partitions, []int32{1, 4}) || loss.Uncommitted == 0 {
		t.Fatalf("it lost %+v, %v", loss, err)
	}
	if !gone(pid) || cs.Err() != nil {
		t.Errorf("the process is gone: %v, and that is no error: %v", gone(pid), cs.Err())
	}
	if _, err := cs.Kill(1); err == nil {
		t.Error("it was killed twice")
	}
	before := cs.Reached()
	if before[1].Delivered+before[4].Delivered != loss.Uncommitted {
		t.Errorf("it was handed %d and %d, and has not committed %d", before[1].Delivered, before[4].Delivered, loss.Uncommitted)
	}
	collector.Collect()
	if err := cs.Start(1); err != nil {
		t.Fatal(err)
	}
	if err := cs.Start(1); err == nil {
		t.Error("it was started twice")
	}
	readToEnd(t, cs)
	all := learn(cs, &collector)
	b := all.books
	if dup := b.Warmup.Duplicates + b.Measured.Duplicates; dup != loss.Uncommitted || all.received.Duplicates != dup {
		t.Errorf("%d duplicates, %d when they came; want %d", dup, all.received.Duplicates, loss.Uncommitted)
	}
	if b.Warmup.Unique+b.Measured.Unique != 5*tapeRecords || b.Measured.Lost != 0 || b.Approximate || len(b.Measured.Imbalance()) > 0 {
		t.Errorf("the books are %+v", b)
	}
	if n := all.counts[latency.E2EServiceTime]; n != 5*tapeRecords {
		t.Errorf("%d records have a time, want %d", n, 5*tapeRecords)
	}
}

// Where others are in its process, a member goes and comes alone, and the last takes
// the process with it.
func TestLeavingAProcess(t *testing.T) {
	axis := load.NewAxis()
	axis.Set(0, time.Minute)
	cs := join(t, axis, 2, nil) // members 0 and 2 together
	pid := cs.places[0].process.PID()
	if _, err := cs.Kill(0); err == nil || !strings.Contains(err.Error(), "cannot kill") {
		t.Errorf("the tape's consumers can be killed: %v", err)
	}
	if err := cs.Leave(2); err != nil || gone(pid) {
		t.Errorf("left: %v; its process is gone: %v", err, gone(pid))
	}
	if err := cs.Start(2); err != nil {
		t.Error(err)
	}
	if err := errors.Join(cs.Leave(0), cs.Leave(2)); err != nil || !gone(pid) {
		t.Errorf("left: %v; the process without members is gone: %v", err, gone(pid))
	}
	if err := cs.Leave(2); err == nil {
		t.Error("it left twice")
	}
	if err := cs.Start(3); err != nil { // a new one, beside member 1
		t.Error(err)
	}
	for _, number := range []int{-1, 4} {
		if err := cs.Start(number); err == nil {
			t.Errorf("consumer %d was started", number)
		}
	}
	if cs.Err() != nil || len(cs.Processes()) != 2 {
		t.Errorf("%d processes, %v", len(cs.Processes()), cs.Err())
	}
	cs.Stop(context.Background())
	if err := cs.Start(0); !errors.Is(err, errStopped) {
		t.Errorf("started after the end: %v", err)
	}
}

// A process that stands still is what it was when it stopped, and holds nobody up.
func TestPausedProcess(t *testing.T) {
	axis := load.NewAxis()
	axis.Set(0, time.Minute)
	cs := join(t, axis, 3, nil)
	time.Sleep(30 * time.Millisecond)
	process := cs.places[1].process
	how, err := cs.Pause(1)
	if err != nil || !strings.Contains(how, fmt.Sprintf("pid %d) stands still (SIGSTOP)", process.PID())) {
		t.Fatalf("paused by %q, %v", how, err)
	}
	if _, err := cs.Pause(1); err == nil {
		t.Error("it was paused twice")
	}
	if process.Running() || process.Ended() {
		t.Error("it runs, or has ended")
	}
	began, at := time.Now(), cs.Reached()
	time.Sleep(100 * time.Millisecond)
	now := cs.Reached()
	if now[1].Position != at[1].Position || now[1].Position == 0 || now[0].Position == at[0].Position {
		t.Errorf("positions went from %+v to %+v", at, now)
	}
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("asking took %v", took)
	}
	if err := process.Call("Clock.Now", None(0), new(int64)); !errors.Is(err, errNotRunning) {
		t.Errorf("it was asked: %v", err)
	}
	if err := cs.Resume(1); err != nil {
		t.Error(err)
	}
	if err := cs.Resume(1); err == nil {
		t.Error("it was resumed twice")
	}
	readToEnd(t, cs)

	if _, err := cs.Pause(0); err != nil { // for good
		t.Error(err)
	}
	if _, err := cs.Pause(2); err != nil {
		t.Error(err)
	}
	if loss, err := cs.Kill(2); err != nil || loss.Uncommitted != tapeRecords { // partition 2
		t.Errorf("a process that stood still lost %+v, %v", loss, err)
	}
	var collector latency.Collector
	cs.AddTo(&collector)
	all := learn(cs, &collector)
	if b := all.books; b.Warmup.Unique+b.Measured.Unique != 5*tapeRecords || b.Measured.Duplicates != 0 {
		t.Errorf("the books are %+v", b)
	}
	if n := all.counts[latency.E2EServiceTime]; n != 5*tapeRecords {
		t.Errorf("%d records have a time, want %d", n, 5*tapeRecords)
	}
	if cs.Err() != nil || slices.ContainsFunc(cs.Processes(), func(p *Process) bool { return !gone(p.PID()) }) {
		t.Errorf("a process is left, or %v", cs.Err())
	}
}

// In a process with others a member is paused alone.
func TestPausedInAProcess(t *testing.T) {
	axis := load.NewAxis()
	axis.Set(0, time.Minute)
	cs := join(t, axis, 1, nil)
	how, err := cs.Pause(1)
	if err != nil || !strings.Contains(how, "heartbeats") || !cs.places[0].process.Running() {
		t.Fatalf("paused by %q, %v", how, err)
	}
	if err := cs.Resume(1); err != nil {
		t.Error(err)
	}
	readToEnd(t, cs)
}

// Held members of processes read nothing before they are released, and one that
// stood still meanwhile is released when it goes on; one that starts later reads.
func TestReleaseOfProcesses(t *testing.T) {
	axis := load.NewAxis()
	axis.Set(0, time.Minute)
	cs := join(t, axis, 3, func(cfg *load.GroupConfig) { cfg.Hold = false })
	if cs.released.Load() {
		t.Error("it is released")
	}
	if _, err := cs.Pause(1); err != nil {
		t.Fatal(err)
	}
	cs.Begin()
	cs.Release()
	cs.Release()
	if err := cs.Resume(1); err != nil {
		t.Error(err)
	}
	readToEnd(t, cs)
}

// The death of a process that nobody asked for is told, and nobody waits for it;
// what it last told stays known.
func TestConsumersOfADeadProcess(t *testing.T) {
	axis := load.NewAxis()
	axis.Set(0, time.Minute)
	cs := join(t, axis, 3, nil)
	time.Sleep(30 * time.Millisecond)
	at := cs.Reached()
	_ = syscall.Kill(cs.places[1].process.PID(), syscall.SIGKILL)
	for deadline := time.Now().Add(5 * time.Second); cs.Dead() == nil && time.Now().Before(deadline); time.Sleep(time.Millisecond) {
	}
	for _, err := range []error{cs.Dead(), cs.Err(), cs.AwaitReady(context.Background())} {
		if err == nil || !strings.Contains(err.Error(), "process 1") || !strings.Contains(err.Error(), "killed") {
			t.Errorf("of the dead process it is said: %v", err)
		}
	}
	if _, err := cs.Kill(1); err == nil {
		t.Error("it was killed")
	}
	if now := cs.Reached(); now[1].Position < at[1].Position || now[1].Arrived < at[1].Arrived {
		t.Errorf("it had come to %+v, and now to %+v", at[1], now[1])
	}
	cs.Stop(context.Background())
	if b := cs.Receivers()[1]; b.Unique() == 0 {
		t.Error("nothing of it is in the books")
	}
}

func TestOpeningConsumersFails(t *testing.T) {
	axis := load.NewAxis()
	var mu sync.Mutex
	var pids []int
	cfg := ConsumersConfig{Group: reading(axis), Driver: "tape", Axis: axis, Processes: 2,
		Start: func(place int) (*Child, error) {
			c, err := StartChild(place, childCommand)
			if err == nil {
				mu.Lock()
				defer mu.Unlock()
				pids = append(pids, c.PID())
			}
			return c, err
		}}
	cfg.Group.Client.Topic = "refused"
	_, err := OpenConsumers(cfg)
	if err == nil || err.Error() != "opening the consumers of process 0: opening consumer 0: there is no such topic" {
		t.Errorf("what can't be opened: %v", err)
	}
	if len(pids) != 2 || !gone(pids[0]) || !gone(pids[1]) {
		t.Errorf("of the processes %v some are left", pids)
	}
	cfg.Start = func(int) (*Child, error) { return nil, os.ErrNotExist }
	if _, err := OpenConsumers(cfg); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without a program: %v", err)
	}
}

// Whatever a group's configuration has that a process has not of its own, gets there.
func TestGroupAssignment(t *testing.T) {
	var cfg load.GroupConfig
	own := map[string]bool{"Driver": true, "Axis": true, "OnEvent": true, "Access": true, "OnAssigned": true, "OnRevoked": true, "OnError": true}
	fill(t, reflect.ValueOf(&cfg).Elem(), own)
	if back := assignment(cfg).Config(); !reflect.DeepEqual(back, cfg) {
		t.Errorf("came as\n%+v\nwas\n%+v", back, cfg)
	}
}

// fill gives every field of a struct a value that is not its zero, but for those
// that are a process' own.
func fill(t *testing.T, v reflect.Value, own map[string]bool) {
	t.Helper()
	for i := range v.NumField() {
		field, name := v.Field(i), v.Type().Field(i).Name
		switch {
		case own[name], field.Kind() == reflect.Map: // the client's Partitions are the group's to set
		case field.Kind() == reflect.Struct:
			fill(t, field, own)
		case field.Kind() == reflect.Slice:
			field.Set(reflect.MakeSlice(field.Type(), 1, 1))
		case field.Kind() == reflect.String:
			field.SetString(name)
		case field.Kind() == reflect.Bool:
			field.SetBool(true)
		case field.CanInt():
			field.SetInt(int64(i + 1))
		case field.CanUint():
			field.SetUint(uint64(i + 1))
		default:
			t.Fatalf("%s is of a kind that is new", name)
		}
	}
}

// A process that stands still when its parent dies is woken to end.
func TestStillChildOfADeadParent(t *testing.T) { wakesStillChild(t) }

func wakesStillChild(t *testing.T) {
	t.Helper()
	parent := exec.Command(childCommand[0], orphanWord)
	out, err := parent.Output()
	if err != nil {
		t.Fatal(err)
	}
	var pid int
	if _, err := fmt.Sscan(string(out), &pid); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(5 * time.Second); !ended(pid); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
			t.Fatal("it stands still for ever")
		}
	}
}

// ended tells whether a process runs no more: it is gone, or nobody buries it.
func ended(pid int) bool {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return gone(pid) || err == nil && strings.Contains(string(status), ") Z ")
}

// BenchmarkStanding is what a run asks of three processes of consumers at the end of
// an interval.
func BenchmarkStanding(b *testing.B) {
	axis := load.NewAxis()
	axis.Set(0, time.Minute)
	cs := join(b, axis, 3, nil)
	var collector latency.Collector
	cs.AddTo(&collector)
	for b.Loop() {
		cs.Received()
		cs.Reached()
		collector.Collect()
	}
}
