// Package franz drives Kafka through franz-go, the client in pure Go.
//
// The client calls a function for every completed record. The driver makes that function once for each
// driver.Record, so that a reused record costs no allocation. Everything else is counted once per request or batch,
// never per record.
//
// Files to know: outcome.go, consumer.go, pollerror.go, settings.go.
package franz

import (
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/access"
	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/kafka/driver/meter"
)

const module = "github.com/twmb/franz-go"

// dialTimeout is the client's own default (kgo.DialTimeout). The client does not apply it if the
// driver sets a dialer (kgo.Dialer).
const dialTimeout = 10 * time.Second

type franz struct {
	dial meter.Dial // nil means the access's own
}

// Option changes how clients are opened.
type Option func(*franz)

// WithDialer opens every connection to a broker through dial, for instance to inject network faults.
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

func (f *franz) dialer(a access.Access) meter.Dial {
	if f.dial != nil {
		return f.dial
	}
	return a.Dialer(dialTimeout)
}

func (f *franz) Name() string { return "franz" }

// Lacks names capabilities that this driver does not use, even if the library has them.
func (f *franz) Lacks() map[driver.Capability]string {
	return map[driver.Capability]string{
		driver.ShareGroups:      "the driver opens no share consumers yet",
		driver.OneRecordBatches: "franz-go bounds a batch in bytes only, and takes no bound below 512",
	}
}

func (f *franz) Version() string {
	return driver.ModuleVersion(module)
}
