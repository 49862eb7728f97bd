package fault

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
	"kafkabench.example/kafka-bench/internal/plan/scenario"
)

type group struct {
	done     []string
	cantKill error
	fails    error
}

func (g *group) did(what string) error {
	g.done = append(g.done, what)
	return g.fails
}

func (g *group) Kill(int) (snapshot.Loss, error) {
	return snapshot.Loss{Partitions: []int32{1, 3}, Uncommitted: 1200}, g.did("kill")
}
func (g *group) Leave(int) error           { return g.did("leave") }
func (g *group) Start(int) error           { return g.did("start") }
func (g *group) Pause(int) (string, error) { return "it stands still", g.did("pause") }
func (g *group) Resume(int) error          { return g.did("resume") }
func (g *group) CanKill() error            { return g.cantKill }

type foreign struct{ cluster.Cluster }

func (foreign) Info() cluster.Info { return cluster.Info{Kind: cluster.KindExisting} }

func target(kind string, n int) scenario.Target { return scenario.Target{Kind: kind, Number: n} }

func TestFaultsOfConsumers(t *testing.T) {
	who := target(scenario.ConsumerTarget, 1)
	killed := map[string]any{
		"consumer": 1, "state": "killed", "records": int64(1200), "partitions": []int32{1, 3},
	}
	paused := map[string]any{"consumer": 1, "state": "paused"}
	for _, test := range []struct {
		f      scenario.ScheduledFault
		name   string
		done   string
		detail string
		data   map[string]any
		undo   string
	}{
		{
			scenario.ScheduledFault{Kill: who}, "kill consumer 1", "kill",
			"consumer 1 had partitions [1 3], and had not committed 1,200 records that it was handed", killed,
			"start consumer 1",
		},
		{scenario.ScheduledFault{Stop: who}, "stop consumer 1", "leave", "", nil, "start consumer 1"},
		{scenario.ScheduledFault{Pause: who}, "pause consumer 1", "pause", "it stands still", paused, "resume consumer 1"},
		{scenario.ScheduledFault{Start: who}, "start consumer 1", "start", "", nil, ""},
		{scenario.ScheduledFault{Resume: who}, "resume consumer 1", "resume", "", nil, ""},
		{scenario.ScheduledFault{Restart: who}, "restart consumer 1", "leave start", "", nil, ""},
	} {
		g := &group{}
		f := New(test.f, Stand{Groups: []Consumers{g}})
		if f.Name() != test.name || f.Available() != nil || OfBrokers(test.f) {
			t.Errorf("%s: the name is %q, and it is not available: %v", test.name, f.Name(), f.Available())
		}
		step, err := f.Inject(context.Background())
		want := Step{What: test.detail, Data: test.data}
		if got := strings.Join(g.done, " "); err != nil || got != test.done || !reflect.DeepEqual(step, want) {
			t.Errorf("%s: it did %q, and said %v and %v", test.name, got, step, err)
		}
		if test.undo != "" && f.(Undone).Undo().Name() != test.undo {
			t.Errorf("%s is undone by %s", test.name, f.(Undone).Undo().Name())
		}
	}
}

func TestKillInSeveralGroups(t *testing.T) {
	on := Stand{Groups: []Consumers{&group{}, &group{}}, GroupNames: []string{"orders", "audit"}}
	f := New(scenario.ScheduledFault{Kill: target(scenario.ConsumerTarget, 0)}, on)
	step, err := f.Inject(context.Background())
	of := func(name string) map[string]any {
		return map[string]any{"group": name, "partitions": []int32{1, 3}, "records": int64(1200)}
	}
	want := map[string]any{
		"consumer": 0, "state": "killed", "records": int64(2400), "groups": []map[string]any{of("orders"), of("audit")},
	}
	if err != nil || !reflect.DeepEqual(step.Data, want) {
		t.Errorf("the data are %v, %v, want %v", step.Data, err, want)
	}
}

func TestConsumersThatCannotBeKilled(t *testing.T) {
	cant := errors.New("the driver cannot")
	on := Stand{Groups: []Consumers{&group{}, &group{cantKill: cant, fails: cant}}}
	who := target(scenario.ConsumerTarget, 0)
	kill, stop := New(scenario.ScheduledFault{Kill: who}, on), New(scenario.ScheduledFault{Stop: who}, on)
	if !errors.Is(kill.Available(), cant) || stop.Available() != nil {
		t.Errorf("kill: %v, stop: %v", kill.Available(), stop.Available())
	}
	if _, err := stop.Inject(context.Background()); !errors.Is(err, cant) {
		t.Errorf("the failure of one group is %v", err)
	}
}

func TestBrokersThatCannotBeBroken(t *testing.T) {
	embedded, err := cluster.StartEmbedded(cluster.EmbeddedOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = embedded.Stop(context.Background()) })
	broker, leader, every := target(scenario.BrokerTarget, 1), target(scenario.LeaderTarget, 0), target(scenario.EveryBroker, 0)
	for _, f := range []scenario.ScheduledFault{{Kill: broker}, {Pause: leader}, {Restart: every}} {
		for _, test := range []struct {
			on   cluster.Cluster
			want string
		}{
			{embedded, "--cluster kafka"},
			{foreign{}, "may not hit the brokers of an existing cluster"},
			{&cluster.Named{}, "stays up after the run"},
		} {
			fault := New(f, Stand{Cluster: test.on, Partitions: 1})
			if err := fault.Available(); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s: %v, want it to say %q", fault.Name(), err, test.want)
			}
		}
	}
}

type topic struct {
	leader int32
	err    error
}

func (t topic) Leader(context.Context, int) (int32, error) { return t.leader, t.err }
func (t topic) InSync(context.Context) (bool, error)       { return true, nil }
func onKafka(t topic) Stand                                { return Stand{Cluster: &cluster.Kafka{}, Topic: t, Partitions: 2} }
func leaderOf(partition int, on Stand, action string) Fault {
	f := scenario.ScheduledFault{}
	switch who := target(scenario.LeaderTarget, partition); action {
	case scenario.Kill:
		f.Kill = who
	case scenario.Start:
		f.Start = who
	}
	return New(f, on)
}

func TestLeaderIsFoundWhenTheFaultComes(t *testing.T) {
	f := leaderOf(1, onKafka(topic{leader: 3}), scenario.Kill)
	aimed, err := f.(Aimed).Aim(context.Background())
	if err != nil || f.Available() != nil || f.Name() != "kill leader of partition 1" || aimed.Name() != "kill broker 3" {
		t.Errorf("%s: available %v, aimed at %v, %v", f.Name(), f.Available(), aimed, err)
	}
	if undo := aimed.(Undone).Undo(); undo.Name() != "start broker 3" {
		t.Errorf("it is undone by %s", undo.Name())
	}
	for _, test := range []struct {
		fault Fault
		want  string
	}{
		{leaderOf(2, onKafka(topic{}), scenario.Kill), "partitions 0 to 1"},
		{leaderOf(0, onKafka(topic{}), scenario.Start), "name the broker"},
	} {
		if err := test.fault.Available(); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want it to say %q", test.fault.Name(), err, test.want)
		}
	}
	for _, answer := range []topic{{leader: -1}, {err: errors.New("nobody answers")}} {
		if _, err := leaderOf(0, onKafka(answer), scenario.Kill).(Aimed).Aim(context.Background()); err == nil {
			t.Errorf("with %+v it aims at somebody", answer)
		}
	}
	// This cluster has no broker 3, so nothing is broken.
	if _, err := leaderOf(0, onKafka(topic{leader: 3}), scenario.Kill).Inject(context.Background()); err == nil || !strings.Contains(err.Error(), "no broker 3") {
		t.Errorf("injected: %v", err)
	}
}
