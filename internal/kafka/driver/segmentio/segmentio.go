// Package segmentio drives Kafka through segmentio/kafka-go, a client in pure Go.
//
// It uses an asynchronous Writer, and one Reader for each partition under a ConsumerGroup, as the client's users
// do. One goroutine feeds the Writer (feed.go). A round tripper records
// which requests can have reached a broker (attempts.go, outcome.go). Rebalances wait while
// the caller holds records (gate.go). Each Reader fills a buffer from which polls take records
// (partition.go).
//
// Files to know: attempts.go, outcome.go, gate.go, partition.go.
package segmentio

import (
	"kafkabench.example/kafka-bench/internal/kafka/access"
	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/kafka/driver/meter"
)

const module = "github.com/segmentio/kafka-go"

type segmentio struct {
	dial meter.Dial // nil means the access's own
}

// Option changes how clients are opened.
type Option func(*segmentio)

// WithDialer opens every connection to a broker through dial, for instance to inject network faults.
func WithDialer(dial meter.Dial) Option {
	return func(s *segmentio) { s.dial = dial }
}

// New returns the driver.
func New(options ...Option) driver.Driver {
	s := &segmentio{}
	for _, option := range options {
		option(s)
	}
	return s
}

// A client has its own dial timeouts.
func (s *segmentio) dialer(a access.Access) meter.Dial {
	if s.dial != nil {
		return s.dial
	}
	return a.Dialer(0)
}

func (s *segmentio) Name() string { return "segmentio" }

func (s *segmentio) Version() string {
	return driver.ModuleVersion(module)
}

// Lacks names what the client can't do.
func (s *segmentio) Lacks() map[driver.Capability]string {
	return map[driver.Capability]string{
		driver.Idempotence:       "kafka-go has no idempotent producer: what it retries may be in the log twice",
		driver.CompressionLevels: "kafka-go sets compression levels for the whole process, and not for one producer",
		driver.InFlightLimit:     "kafka-go always has one batch in flight for each partition, each on a connection of its own",
		driver.ServerGroups:      "kafka-go has only the group protocol classic",
		driver.ReadControl:       "kafka-go returns control records as if they were records",
		driver.ReportThrottle:    "throttle times are not read from kafka-go's responses",
		driver.KerberosAccess:    "kafka-go ends a login before its last message, which Kerberos needs",
		driver.ShareGroups:       "kafka-go has no share consumers",
		driver.StickyAssignor:    "kafka-go has the assignors range and roundrobin",
		driver.CooperativeSticky: "kafka-go has the assignors range and roundrobin",
	}
}
