package bench

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"kafkabench.example/kafka-bench/internal/kafka/access"
	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/kafka/driver/franz"
	"kafkabench.example/kafka-bench/internal/kafka/driver/sarama"
	"kafkabench.example/kafka-bench/internal/kafka/guard"
	"kafkabench.example/kafka-bench/internal/kafka/probe"
	"kafkabench.example/kafka-bench/internal/plan/scenario"
)

// An interrupt of the user before the watch begins stays the reason, and a later one of the guard ends nothing again.
func TestInterruptBeforeTheWatch(t *testing.T) {
	asked := make(chan struct{})
	g := &guarded{interrupt: make(chan struct{}), closed: make(chan struct{})}
	g.running.Go(func() { g.forward(asked) })
	close(asked)
	<-g.interrupt
	g.watch = guard.New(guard.Observation{}, guard.Limits{Floors: map[int32]int64{1: 100}})
	g.look(guard.Observation{Disks: []guard.Disk{{Brokers: []int32{1}, UsableBytes: 1}}})
	if reason := g.ended(); reason != "" {
		t.Errorf("ended by %q", reason)
	}
	g.close()
}

// A reason that comes after the last record was delivered is not recorded.
func TestReasonAfterACompleteRun(t *testing.T) {
	for _, interrupted := range []bool{false, true} {
		r := newRun(Config{Scenario: scenario.Defaults(), Probes: probe.Unknown()})
		r.guard, r.interrupted = &guarded{reason: "a disk is full"}, interrupted
		if info := r.info(); info.EndedByGuard != "" != interrupted {
			t.Errorf("interrupted %t: ended by %q", interrupted, info.EndedByGuard)
		}
	}
}

type someFleet struct{ Fleet }

func TestQuotasUnseen(t *testing.T) {
	for _, test := range []struct {
		driver driver.Driver
		fleet  Fleet
		want   string
	}{
		{franz.New(), nil, ""},
		{franz.New(), someFleet{}, "agents"},
		{sarama.New(), nil, "sarama"},
	} {
		got := quotasUnseen(Config{Driver: test.driver, Fleet: test.fleet})
		if (got == "") != (test.want == "") || !strings.Contains(got, test.want) {
			t.Errorf("%s, fleet %v: %q", test.driver.Name(), test.fleet, got)
		}
	}
}

type partlySilent struct {
	cluster.Cluster
	access access.Access
}

func (partlySilent) Bootstrap() []string     { return []string{"localhost:1"} }
func (partlySilent) Info() cluster.Info      { return cluster.Info{Kind: cluster.KindExisting} }
func (c partlySilent) Access() access.Access { return c.access }

// The guard asks only addresses that answered before.
func TestGuardAsksVerifiedAddresses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		t.Cleanup(func() { time.Sleep(time.Minute) })
		network := &kfake.VirtualNetwork{}
		fake, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.ListenFn(network.Listen), kfake.Ports(9092))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(fake.Close)
		cfg, g := guardRun(Config{Scenario: scenario.Defaults(), Probes: probe.Unknown(), Driver: franz.New(),
			Guards:  Guards{Remote: true, Anyway: true},
			Cluster: partlySilent{access: access.Access{Dial: network.DialContext}}})
		defer g.close()
		r := newRun(cfg)
		r.guard, r.verified = g, fake.ListenAddrs()
		if err := r.openGuard(t.Context()); err == nil || !strings.Contains(err.Error(), "do not report what disk they have free") {
			t.Errorf("%v", err)
		}
	})
}
