// Package drivertest is the conformance suite of drivers: tests that run against any driver and any cluster. A
// driver must pass before its figures count. Most tests check accounting (every record is completed exactly once,
// with the right outcome and offset) and ownership (which member has a partition, and from which offset).
//
// Besides the suite (RunFake, RunKafka), some tests need an expectation of each driver: Outcomes, WantSettings,
// TestKilledConsumer and CheckNothingRuns.
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

// Env is the cluster of a test; see NewEnv.
type Env struct {
	// Brokers are the cluster's bootstrap addresses, and Access is how clients reach them.
	Brokers []string
	Access  access.Access
	// CreateTopic creates a topic with min.insync.replicas 1, and returns when it can be written to.
	CreateTopic func(t testing.TB, topic string, partitions int)
	DeleteTopic func(t testing.TB, topic string)
	// SessionTimeouts holds the session timeout for each protocol.
	SessionTimeouts map[string]time.Duration
}

// A rebalance on a real broker takes up to ten seconds.
const patience = 40 * time.Second

type test struct {
	name  string
	run   func(t *testing.T, s suite)
	needs []driver.Capability // without these, the test does not run
	zstd  bool
	timed bool // asserts that requests take time
}

type suite struct {
	driver   driver.Driver
	protocol string
	assignor string // in the tests of an assignor; else empty
	env      Env
	in       func(t *testing.T, c test, run func(t *testing.T, env Env))
}

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

type group struct {
	name  string
	tests []test
	suite suite
}

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

// The tests mostly wait, so the number of processors must not limit them, as t.Parallel would do.
func atOnce[T any](values []T, do func(T)) {
	var all sync.WaitGroup
	for _, value := range values {
		all.Go(func() { do(value) })
	}
	all.Wait()
}
