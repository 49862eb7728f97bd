package remote

import (
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/probe"
	"kafkabench.example/kafka-bench/internal/load"
	"kafkabench.example/kafka-bench/internal/load/receive"
	"kafkabench.example/kafka-bench/internal/measure/latency"
	"kafkabench.example/kafka-bench/internal/measure/ledger"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
)

func join(t testing.TB, start func(place int) (*Child, error), axis *load.Axis, processes int, change func(*receive.Config)) *Consumers {
	t.Helper()
	cfg := reading(axis)
	if change != nil {
		change(&cfg)
	}
	cs, err := OpenConsumers(ConsumersConfig{
		Group: cfg, Driver: "tape", Axis: axis, Processes: processes,
		Start: start,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cs.Stop(context.Background()) })
	if err := cs.AwaitReady(context.Background()); err != nil {
		t.Fatal(err)
	}
	return cs
}

type got struct {
	reached  []snapshot.Reached
	agree    bool
	received snapshot.Received
	books    ledger.Books
	counts   map[latency.Metric]int64
	workers  int
}

func readToEnd(t *testing.T, g *Consumers) {
	t.Helper()
	behind := func(r snapshot.Reached) bool { return r.Position < tapeRecords }
	for slices.ContainsFunc(g.Standing(Want{}).Reached, behind) {
		time.Sleep(10 * time.Millisecond)
	}
}

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

func learn(g *Consumers, collector *latency.Collector) (all got) {
	g.Stop(context.Background())
	collector.Collect()
	stood := g.Standing(Want{Books: true})
	all.reached, all.received, all.workers = stood.Reached, stood.Received, g.Workers()
	all.agree = slices.EqualFunc(g.Standing(Want{}).Reached, all.reached, func(p, r snapshot.Reached) bool {
		return p.Position == r.Position && p.At == r.At && p.Delivered == r.Delivered
	})
	all.books = ledger.Close(sent(len(all.reached)), g.Receivers(), func(int32) int64 { return tapeRecords })
	all.counts = make(map[latency.Metric]int64)
	for m := range latency.Metric(latency.NumMetrics) {
		all.counts[m] = collector.Totals(true, m).Count + collector.Totals(false, m).Count
	}
	for i := range all.reached { // depends on the machine
		all.reached[i].At = 0
	}
	all.received.ServiceNs = 0
	return all
}

func TestConsumersOfSeveralProcesses(t *testing.T) {
	for _, stamped := range []bool{true, false} {
		for _, processes := range []int{1, 2, 3} {
			t.Run(fmt.Sprintf("%d processes, stamped %v", processes, stamped), func(t *testing.T) {
				virtually(t, func(t *testing.T) {
					change := func(cfg *receive.Config) { cfg.Stamped = stamped }
					hereAxis, axis := virtualAxis(), virtualAxis()
					cfg := reading(hereAxis)
					change(&cfg)
					var hereCollector, collector latency.Collector
					hereAxis.Set(0, time.Minute)
					part := NewHere(probe.Unknown(), func(context.Context, Assignment) (Load, error) { return openGroup(cfg) })
					opened, err := part.Open(t.Context(), Assignment{Version: Version})
					if err != nil {
						t.Fatal(err)
					}
					here := ConsumersOf(part, cfg, opened)
					here.AddTo(&hereCollector)

					axis.Set(0, time.Minute)
					apart := join(t, inside, axis, processes, change)
					apart.AddTo(&collector)
					if err := apart.CanKill(); (err == nil) != (processes == 3) {
						t.Errorf("of %d processes a member can be killed: %v", processes, err)
					}
					readToEnd(t, here)
					readToEnd(t, apart)
					for range 3 {
						apart.Standing(Want{Times: true, Books: true})
						collector.Collect()
					}
					want, have := learn(here, &hereCollector), learn(apart, &collector)
					if !reflect.DeepEqual(have, want) || !have.agree {
						t.Errorf("%d processes read\n%+v\none\n%+v", processes, have, want)
					}
					if stamped && (want.books.Measured.Unique != 5*tapeRecords*9/10 || want.books.Approximate) {
						t.Errorf("the books are %+v", want.books)
					}
					if err := errors.Join(apart.Err(), apart.Dead()); err != nil {
						t.Error(err)
					}
					if n := len(apart.Children()); n != processes || slices.ContainsFunc(apart.Children(), func(c *Child) bool { return !c.Ended() }) {
						t.Errorf("%d processes, and some are left", n)
					}
					if s := apart.Settings(); len(s) != 1 || s[0].Value != "1" {
						t.Errorf("the settings are %v", s)
					}
				})
			})
		}
	}
}

// A member leaves and joins without the other members of its process; the last member to leave ends
// the process.
func TestLeavingAProcess(t *testing.T) {
	virtually(t, func(t *testing.T) {
		axis := virtualAxis()
		axis.Set(0, time.Minute)
		cs := join(t, inside, axis, 2, nil)
		process := cs.places[0].process
		if _, err := cs.Kill(0); err == nil || !strings.Contains(err.Error(), "cannot kill") {
			t.Errorf("the tape's consumers can be killed: %v", err)
		}
		if err := cs.Leave(2); err != nil || process.Ended() {
			t.Errorf("left: %v; its process is gone: %v", err, process.Ended())
		}
		if err := cs.Start(2); err != nil {
			t.Error(err)
		}
		if err := errors.Join(cs.Leave(0), cs.Leave(2)); err != nil || !process.Ended() {
			t.Errorf("left: %v; the process without members is gone: %v", err, process.Ended())
		}
		if err := cs.Leave(2); err == nil {
			t.Error("it left twice")
		}
		if err := cs.Start(3); err != nil { // a new one, with member 1
			t.Error(err)
		}
		for _, number := range []int{-1, 4} {
			if err := cs.Start(number); err == nil {
				t.Errorf("consumer %d was started", number)
			}
		}
		if cs.Err() != nil || len(cs.Children()) != 2 {
			t.Errorf("%d processes, %v", len(cs.Children()), cs.Err())
		}
		cs.Stop(context.Background())
		if err := cs.Start(0); !errors.Is(err, errStopped) {
			t.Errorf("started after the end: %v", err)
		}
	})
}

func TestPausedInAProcess(t *testing.T) {
	virtually(t, func(t *testing.T) {
		axis := virtualAxis()
		axis.Set(0, time.Minute)
		cs := join(t, inside, axis, 1, nil)
		how, err := cs.Pause(1)
		if err != nil || !strings.Contains(how, "heartbeats") || !running(cs.places[0].process) {
			t.Fatalf("paused by %q, %v", how, err)
		}
		if err := cs.Resume(1); err != nil {
			t.Error(err)
		}
		readToEnd(t, cs)
	})
}

// A member that was paused at the release is released when it resumes, and a member that starts
// later reads at once.
func TestReleaseOfProcesses(t *testing.T) {
	virtually(t, func(t *testing.T) {
		axis := virtualAxis()
		axis.Set(0, time.Minute)
		cs := join(t, inside, axis, 3, func(cfg *receive.Config) { cfg.Hold = false })
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
	})
}

func TestOpeningConsumersFails(t *testing.T) {
	virtually(t, func(t *testing.T) {
		axis := virtualAxis()
		var mu sync.Mutex
		var children Children
		cfg := ConsumersConfig{Group: reading(axis), Driver: "tape", Axis: axis, Processes: 2,
			Start: func(place int) (*Child, error) {
				c, err := inside(place)
				mu.Lock()
				defer mu.Unlock()
				children = append(children, c)
				return c, err
			}}
		cfg.Group.Client.Topic = "refused"
		_, err := OpenConsumers(cfg)
		if err == nil || err.Error() != "opening the consumers of process 0: opening consumer 0: there is no such topic" {
			t.Errorf("what can't be opened: %v", err)
		}
		if len(children) != 2 {
			t.Errorf("%d processes were started", len(children))
		}
		for _, c := range children {
			<-c.gone
		}
		cfg.Start = func(int) (*Child, error) { return nil, os.ErrNotExist }
		if _, err := OpenConsumers(cfg); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("without a program: %v", err)
		}
	})
}

func TestGroupAssignment(t *testing.T) {
	var cfg receive.Config
	own := map[string]bool{
		"Driver": true, "Axis": true, "Offsets": true, "OnEvent": true, "Access": true,
		"OnAssigned": true, "OnRevoked": true, "OnError": true,
	}
	fill(t, reflect.ValueOf(&cfg).Elem(), own)
	if back := assignment(cfg).Config(); !reflect.DeepEqual(back, cfg) {
		t.Errorf("came as\n%+v\nwas\n%+v", back, cfg)
	}
}

func fill(t *testing.T, v reflect.Value, own map[string]bool) {
	t.Helper()
	for i := range v.NumField() {
		field, name := v.Field(i), v.Type().Field(i).Name
		switch {
		case own[name], field.Kind() == reflect.Map: // the group sets the client's Partitions
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
