// Package franz drives Kafka through franz-go, the client in pure Go.
//
// The client calls a function for every record that it is done with, one after
// the other on a goroutine of its own; the driver prepares that function once
// for each record slot, so that a record costs no allocation on its second use.
// Everything that the tool wants to know beyond the records themselves (bytes on
// the wire, batches, whether a record can have reached a broker at all) is
// counted once per request or batch, never per record.
//
// Three files hold what was hard to get right: outcome.go (what became of a
// record that was not acknowledged), consumer.go (when a rebalance may happen)
// and pollerror.go (which errors end a consumer).
//
// Files to know: outcome.go, consumer.go, pollerror.go, settings.go.
package franz

import (
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/access"
	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/kafka/driver/meter"
)

// module is the client library's path, as the build records it.
const module = "github.com/twmb/franz-go"

// dialTimeout is the client's own default (kgo.DialTimeout), which does not apply to a
// dialer that it is given.
const dialTimeout = 10 * time.Second

type franz struct {
	dial meter.Dial // nil: that of the access
}

// Option changes how clients are opened.
type Option func(*franz)

// WithDialer opens every connection to a broker through dial, which is where a
// network fault can be put in.
func WithDialer(dial meter.Dial) Option {
	return func(f *franz) { f.dial = dial }
}

// New returns the driver.
func New(options ...Option) driver.Driver {
	f := &franz{}
	for _, option := range options {
		option(f)
	}
	return f
}

// dialer opens the connections of a client.
func (f *franz) dialer(a access.Access) meter.Dial {
	if f.dial != nil {
		return f.dial
	}
	return a.Dialer(dialTimeout)
}

func (f *franz) Name() string { return "franz" }

// Lacks names what this driver does not open, though the library can.
func (f *franz) Lacks() map[driver.Capability]string {
	return map[driver.Capability]string{
		driver.ShareGroups:      "the driver opens no share consumers yet",
		driver.OneRecordBatches: "franz-go bounds a batch in bytes only, and takes no bound below 512",
	}
}

// Version is the library's version as it was built in, or "unknown" in a binary
// without build information.
func (f *franz) Version() string {
	return driver.ModuleVersion(module)
}
