package drivertest

import (
	"context"
	"runtime"
	"strings"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
)

// TestKilledConsumer kills consumers at several moments while they join. It checks that closing one
// takes no longer than within, and leaves no goroutine whose stack contains any of words.
func TestKilledConsumer(t *testing.T, d driver.Driver, within time.Duration, words ...string) {
	Virtual(t, func(t *testing.T, c Cluster) {
		testKilledConsumer(t, d, c, within)
		CheckNothingRuns(t, words...)
	}, Topics(4)...)
}

func testKilledConsumer(t *testing.T, d driver.Driver, cluster Cluster, within time.Duration) {
	protocols := []string{driver.ProtocolClassic}
	if !driver.Lacks(d, driver.ServerGroups) {
		protocols = append(protocols, driver.ProtocolConsumer)
	}
	for _, protocol := range protocols {
		for _, after := range []time.Duration{0, 5 * time.Millisecond, 50 * time.Millisecond, time.Second} {
			c := Consumer(t, d, driver.ConsumerConfig{
				Brokers: cluster.ListenAddrs(), Access: cluster.Access, Group: "g-" + protocol + after.String(),
				Protocol: protocol, FetchMaxWait: 100 * time.Millisecond,
			})
			polled := pollToTheEnd(c)
			time.Sleep(after)
			c.(driver.Killer).Kill()
			if err := <-polled; !strings.Contains(err.Error(), "killed") {
				t.Errorf("%s after %v: the poll says %v", protocol, after, err)
			}
			if took := timed(c.Close); took > within {
				t.Errorf("%s after %v: closing it took %v", protocol, after, took)
			}
		}
	}
}

func pollToTheEnd(c driver.Consumer) <-chan error {
	polled := make(chan error, 1)
	go func() {
		for {
			if _, err := c.Poll(context.Background()); err != nil {
				polled <- err
				return
			}
		}
	}()
	return polled
}

func timed(f func()) time.Duration {
	began := time.Now()
	f()
	return time.Since(began)
}

// CheckNothingRuns fails the test if, after a moment, another goroutine is left whose stack contains any of words,
// such as package names. The test must not run in parallel with others.
func CheckNothingRuns(t *testing.T, words ...string) {
	t.Helper()
	var left []string
	for range 100 {
		if left = running(words); len(left) == 0 {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Errorf("goroutines are left:\n%s", strings.Join(left, "\n\n"))
}

// running omits the caller's stack, which comes first, and goroutines that only wait for a synctest
// bubble to end.
func running(words []string) (found []string) {
	stacks := make([]byte, 1<<22)
	stacks = stacks[:runtime.Stack(stacks, true)]
	for _, stack := range strings.Split(string(stacks), "\n\n")[1:] {
		if strings.Contains(stack, "synctest.Run(") {
			continue
		}
		for _, word := range words {
			if strings.Contains(stack, word) {
				found = append(found, stack)
				break
			}
		}
	}
	return found
}
