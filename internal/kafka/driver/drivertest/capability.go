package drivertest

import (
	"crypto/tls"
	"errors"
	"strings"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/access"
	"kafkabench.example/kafka-bench/internal/kafka/driver"
)

// If a configuration needs a capability that the driver lacks, the driver must refuse it with a
// helpful error, and its clients must not implement the capability's interface.

var capabilityTests = []test{
	{name: "refusals of producers", run: testProducerRefusals},
	{name: "refusals of consumers", run: testConsumerRefusals},
	{name: "interfaces of producers", run: testProducerInterfaces},
	{name: "interfaces of consumers", run: testConsumerInterfaces},
}

var capabilities = []driver.Capability{
	driver.Idempotence, driver.CompressionLevels, driver.InFlightLimit, driver.RecordTimestamps, driver.AckedOffsets,
	driver.ServerGroups, driver.ManualPartitions, driver.PausePartitions, driver.KillConsumer, driver.SessionTimeouts,
	driver.ReadControl, driver.CountWire, driver.TimeRequests, driver.ReportThrottle, driver.EncryptedAccess, driver.KerberosAccess,
	driver.TLSVersions, driver.ShareGroups,
	driver.OneRecordBatches, driver.StickyAssignor, driver.CooperativeSticky,
}

// Capabilities returns all capabilities, in the order of their declaration.
func Capabilities() []driver.Capability { return append([]driver.Capability(nil), capabilities...) }

func (s suite) lacks(c driver.Capability) bool {
	_, lacking := s.driver.Lacks()[c]
	return lacking
}

func encrypt(a *access.Access) { a.TLS = &tls.Config{MinVersion: tls.VersionTLS12} }

func ofKerberos() *access.SASL {
	return &access.SASL{Mechanism: access.MechanismKerberos, Kerberos: &access.Kerberos{Service: "kafka", Cache: "none", Config: "none"}}
}

func testProducerRefusals(t *testing.T, s suite) {
	for c, ask := range map[driver.Capability]func(*driver.ProducerConfig){
		driver.Idempotence:       func(cfg *driver.ProducerConfig) { cfg.Idempotent = true },
		driver.CompressionLevels: func(cfg *driver.ProducerConfig) { cfg.Compression, cfg.Level = "gzip", 5 },
		driver.OneRecordBatches:  func(cfg *driver.ProducerConfig) { cfg.OneRecord = true },
		driver.InFlightLimit:     func(cfg *driver.ProducerConfig) { cfg.InFlight = 1 },
		driver.EncryptedAccess:   func(cfg *driver.ProducerConfig) { encrypt(&cfg.Access) },
		driver.KerberosAccess:    func(cfg *driver.ProducerConfig) { cfg.Access.SASL = ofKerberos() },
		driver.TLSVersions:       func(cfg *driver.ProducerConfig) { cfg.Access.TLS = &tls.Config{MinVersion: tls.VersionTLS13} },
	} {
		cfg := s.config("a-topic", func(driver.Done) {})
		ask(&cfg)
		p, err := s.driver.NewProducer(cfg)
		if err == nil {
			p.Close()
		}
		s.checkRefusal(t, c, err)
	}
}

func testConsumerRefusals(t *testing.T, s suite) {
	s.protocol = s.protocols()[0]
	for c, ask := range map[driver.Capability]func(*driver.ConsumerConfig){
		driver.ServerGroups:     func(cfg *driver.ConsumerConfig) { cfg.Protocol = "consumer" },
		driver.ManualPartitions: func(cfg *driver.ConsumerConfig) { cfg.Group, cfg.Partitions = "", map[int32]int64{} },
		driver.SessionTimeouts: func(cfg *driver.ConsumerConfig) {
			cfg.Protocol, cfg.SessionTimeout = "classic", 10*time.Second
		},
		driver.StickyAssignor:    func(cfg *driver.ConsumerConfig) { cfg.Protocol, cfg.Assignor = "classic", driver.Sticky },
		driver.CooperativeSticky: func(cfg *driver.ConsumerConfig) { cfg.Protocol, cfg.Assignor = "classic", driver.Cooperative },
		driver.ReadControl:       func(cfg *driver.ConsumerConfig) { cfg.ControlRecords = true },
		driver.EncryptedAccess:   func(cfg *driver.ConsumerConfig) { encrypt(&cfg.Access) },
		driver.KerberosAccess:    func(cfg *driver.ConsumerConfig) { cfg.Access.SASL = ofKerberos() },
		driver.TLSVersions:       func(cfg *driver.ConsumerConfig) { cfg.Access.TLS = &tls.Config{MinVersion: tls.VersionTLS13} },
	} {
		cfg := s.groupConfig("a-topic", "a-group-of-"+strings.ReplaceAll(string(c), " ", "-"))
		ask(&cfg)
		consumer, err := s.driver.NewConsumer(cfg)
		if err == nil {
			consumer.Close()
		}
		s.checkRefusal(t, c, err)
	}
}

func (s suite) checkRefusal(t *testing.T, c driver.Capability, err error) {
	t.Helper()
	reason, lacking := s.driver.Lacks()[c]
	switch {
	case !lacking && err != nil:
		t.Errorf("%s is refused, and the driver doesn't say that it lacks it: %v", c, err)
	case !lacking:
	case !errors.Is(err, driver.ErrConfig):
		t.Errorf("the driver lacks %s, and to be asked for it gave %v, want an error that wraps driver.ErrConfig", c,
			err)
	case !containsAll(err.Error(), s.driver.Name(), string(c), reason, ";"):
		t.Errorf("the refusal does not name the driver, %q, the reason %q, and (after a semicolon) what to do: %v", c,
			reason, err)
	}
	if lacking && len(strings.Fields(reason)) < 3 {
		t.Errorf("the reason for lacking %s is %q, which is no sentence", c, reason)
	}
}

func containsAll(text string, parts ...string) bool {
	for _, part := range parts {
		if !strings.Contains(text, part) {
			return false
		}
	}
	return true
}

func testProducerInterfaces(t *testing.T, s suite) {
	p := s.producer(t, s.config(s.topic(t, 1), func(driver.Done) {}))
	_, counts := p.(driver.WireCounter)
	_, times := p.(driver.RequestTimer)
	s.checkInterface(t, driver.CountWire, counts)
	s.checkInterface(t, driver.TimeRequests, times)
}

func testConsumerInterfaces(t *testing.T, s suite) {
	s.protocol = s.protocols()[0]
	c, err := s.driver.NewConsumer(s.groupConfig(s.topic(t, 1), "interfaces"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	_, counts := c.(driver.WireCounter)
	_, times := c.(driver.RequestTimer)
	_, pauses := c.(driver.Pauser)
	_, kills := c.(driver.Killer)
	s.checkInterface(t, driver.CountWire, counts)
	s.checkInterface(t, driver.TimeRequests, times)
	s.checkInterface(t, driver.PausePartitions, pauses)
	s.checkInterface(t, driver.KillConsumer, kills)
}

func (s suite) checkInterface(t *testing.T, c driver.Capability, has bool) {
	t.Helper()
	if lacks := s.lacks(c); has == lacks {
		t.Errorf("%s: the client has the interface: %t, and the driver says that it lacks it: %t", c, has, lacks)
	}
}
