// Package segmentio drives Kafka through segmentio/kafka-go, a client in pure Go.
//
// What its users use is what is measured: the Writer, asynchronous and with a
// completion function, and the Reader, one for each partition, under a ConsumerGroup,
// which is how the client's own examples join them where a program wants to know what
// it owns. Around them stands what the client does not give, and an honest account
// needs. The Writer is fed by one goroutine (feed.go), flushed by closing it, and its
// requests pass through a round tripper that learns which of them can have reached a
// broker (attempts.go, outcome.go). The group is held up while its member has records
// in hand (gate.go), and each Reader is emptied into a buffer from which polls take
// (partition.go).
//
// Files to know: attempts.go, outcome.go, gate.go, partition.go.
package segmentio

import (
	"kafkabench.example/kafka-bench/internal/kafka/access"
	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/kafka/driver/meter"
)

// module is the client library's path, as the build records it.
const module = "github.com/segmentio/kafka-go"

type segmentio struct {
	dial meter.Dial // nil: that of the access
}

// Option changes how clients are opened.
type Option func(*segmentio)

// WithDialer opens every connection to a broker through dial, which is where a
// network fault can be put in.
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

// dialer opens the connections of a client, which bounds its dials by itself.
func (s *segmentio) dialer(a access.Access) meter.Dial {
	if s.dial != nil {
		return s.dial
	}
	return a.Dialer(0)
}

func (s *segmentio) Name() string { return "segmentio" }

// Version is the library's version as it was built in, or "unknown" in a binary
// without build information.
func (s *segmentio) Version() string {
	return driver.ModuleVersion(module)
}

// Lacks names what the client cannot do. What it is asked for all the same is an
// error of its configuration.
func (s *segmentio) Lacks() map[driver.Capability]string {
	return map[driver.Capability]string{
		driver.Idempotence:       "kafka-go has no idempotent producer: what it retries may be in the log twice",
		driver.CompressionLevels: "kafka-go sets compression levels for the whole process, and not for one producer",
		driver.InFlightLimit:     "kafka-go always has one batch in flight for each partition, each on a connection of its own",
		driver.ServerGroups:      "kafka-go knows the group protocol classic only",
		driver.ReadControl:       "kafka-go returns the marks that transactions leave in the log as if they were records",
		driver.ShareGroups:       "kafka-go has no share consumers",
		driver.StickyAssignor:    "kafka-go has the assignors range and roundrobin",
		driver.CooperativeSticky: "kafka-go has the assignors range and roundrobin",
	}
}
