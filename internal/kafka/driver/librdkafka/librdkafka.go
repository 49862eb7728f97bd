//go:build librdkafka && cgo

package librdkafka

import (
	"github.com/confluentinc/confluent-kafka-go/v2/kafka"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
)

type librdkafka struct{}

// New returns the driver.
func New() driver.Driver { return librdkafka{} }

func (librdkafka) Name() string { return "librdkafka" }

// Version returns the version of the C library, which is also that of its Go API.
func (librdkafka) Version() string {
	_, version := kafka.LibraryVersion()
	return "v" + version
}

// Lacks names what the client can't do, or can't do from Go.
func (librdkafka) Lacks() map[driver.Capability]string {
	return map[driver.Capability]string{
		driver.KillConsumer:   "only the client's C code can close its connections, and it always leaves its group in order",
		driver.CountWire:      "the client reports its bytes at most once a second, and no fetched batches",
		driver.TimeRequests:   "the client reports one round-trip time for requests of all types together",
		driver.ReportThrottle: "the client reports throttle times at most once a second, and not by request",
		driver.KerberosAccess: "the client is built without a Kerberos library",
		driver.TLSVersions:    "the client has no setting for versions of TLS",
		driver.ShareGroups:    "the client has no share consumers",
		driver.StickyAssignor: "the client has the assignors range, roundrobin and cooperative-sticky",
	}
}
