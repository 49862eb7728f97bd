// Package drivertest is the conformance suite of drivers: tests that run against any
// driver and any cluster. A driver passes before the tool believes a number that was
// measured through it: most of what is tested here is accounting (every record handed
// back exactly once, with the right outcome and offset) and ownership (who has a
// partition, and from which offset).
//
// Drivers differ in what their clients can do, and say so (driver.Capability). What
// one lacks is tested for being refused plainly; the test that needs it is reported as
// one that the driver does without, and not run. Nothing else may be left out: what
// concerns accounting, order and ownership holds for every driver.
//
// Beside the suite (RunFake, RunKafka) stands what is tested of each driver in the same
// way, but with an expectation of the driver's own: what becomes of a record when a broker misbehaves
// (Outcomes), what settings it shows (WantSettings), what it leaves behind
// (TestKilledConsumer, CheckNothingRuns). And benchmark.go measures what it costs.
//
// Files to know: drivertest.go, capability.go, faults.go, benchmark.go.
package drivertest

import (
	"sync"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/access"
	"kafkabench.example/kafka-bench/internal/kafka/driver"
)

// Env is the cluster that a driver is tested on. NewEnv makes one.
type Env struct {
	// Brokers are the cluster's bootstrap addresses, Access is how clients reach them.
	Brokers []string
	Access  access.Access
	// CreateTopic creates a topic, with min.insync.replicas 1, and returns
	// when it can be written to. DeleteTopic deletes it.
	CreateTopic func(t testing.TB, topic string, partitions int)
	DeleteTopic func(t testing.TB, topic string)
	// SessionTimeouts are, by protocol, how long a member may be silent: what the
	// cluster accepts, or has set. A protocol without one is not tested with a
	// member that was killed.
	SessionTimeouts map[string]time.Duration
}

// patience bounds every wait. Nothing here takes so long; a rebalance on a real
// broker takes up to ten seconds.
const patience = 40 * time.Second

type test struct {
	name  string
	run   func(t *testing.T, s suite)
	needs []driver.Capability // or it is not run
	zstd  bool                // it uses that codec
	timed bool                // it asserts that requests take time
}

// suite is one driver on one cluster.
type suite struct {
	driver   driver.Driver
	protocol string // in the tests of a group
	assignor string // in those of an assignor; else empty
	env      Env    // of one test
	in       func(t *testing.T, c test, run func(t *testing.T, env Env))
}

// run runs the suite. Each of its tests is run by in, with the cluster that it uses.
func run(t *testing.T, d driver.Driver, in func(t *testing.T, c test, run func(t *testing.T, env Env))) {
	s := suite{driver: d, in: in}
	all := []group{
		{"capabilities", capabilityTests, s}, {"producer", producerTests, s}, {"codecs", codecTests(), s},
		{"settings", settingsTests, s}, {"no group", handTests, s},
	}
	for _, protocol := range s.protocols() {
		s.protocol = protocol
		all = append(all, group{"group protocol " + protocol, groupTests, s})
	}
	s.protocol = driver.ProtocolClassic
	for _, assignor := range s.assignors() {
		s.assignor = assignor
		all = append(all, group{"assignor " + assignor, assignorTests, s})
	}
	atOnce(all, func(g group) {
		t.Run(g.name, func(t *testing.T) {
			atOnce(g.tests, func(test test) { g.suite.run(t, test) })
		})
	})
}

// group is a number of tests with what they run on.
type group struct {
	name  string
	tests []test
	suite suite
}

// protocols are the group protocols that the driver has; every cluster has both.
func (s suite) protocols() []string {
	protocols := []string{driver.ProtocolClassic}
	if !s.lacks(driver.ServerGroups) {
		protocols = append(protocols, driver.ProtocolConsumer)
	}
	return protocols
}

func (s suite) run(t *testing.T, test test) {
	t.Run(test.name, func(t *testing.T) {
		for _, c := range test.needs {
			if reason, lacking := s.driver.Lacks()[c]; lacking {
				t.Logf("the driver does without %s: %s", c, reason)
				return
			}
		}
		s.in(t, test, func(t *testing.T, env Env) {
			s.env = env
			test.run(t, s)
		})
	})
}

// atOnce calls do for all values at the same time. The tests spend their time
// waiting for groups to rebalance, so they are not held to the number of
// processors, as t.Parallel would do.
func atOnce[T any](values []T, do func(T)) {
	var all sync.WaitGroup
	for _, value := range values {
		all.Go(func() { do(value) })
	}
	all.Wait()
}
