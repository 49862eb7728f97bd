package driver_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
)

type client map[driver.Capability]string

func (client) Name() string                                                   { return "client" }
func (client) Version() string                                                { return "v1" }
func (c client) Lacks() map[driver.Capability]string                          { return c }
func (client) NewProducer(driver.ProducerConfig) (p driver.Producer, _ error) { return p, nil }
func (client) NewConsumer(driver.ConsumerConfig) (c driver.Consumer, _ error) { return c, nil }

func producing() driver.ProducerConfig {
	return driver.ProducerConfig{
		Brokers: []string{"b:1"}, Topic: "t", Acks: driver.AcksAll, Idempotent: true, InFlight: 5,
		Compression: "zstd", Level: 22, OnDone: func(driver.Done) {},
	}
}

func consuming() driver.ConsumerConfig {
	return driver.ConsumerConfig{Brokers: []string{"b:1"}, Topic: "t", Group: "g", Protocol: driver.ProtocolClassic, SessionTimeout: time.Second}
}

func TestCheckProducer(t *testing.T) {
	for _, test := range []struct {
		says  string
		spoil func(*driver.ProducerConfig)
	}{
		{"", func(*driver.ProducerConfig) {}},
		{"", func(c *driver.ProducerConfig) { c.Compression, c.Level = "lz4", 9 }},
		{"", func(c *driver.ProducerConfig) { c.Compression, c.Level = "snappy", 0 }},
		{"no brokers", func(c *driver.ProducerConfig) { c.Brokers = nil }},
		{"no topic", func(c *driver.ProducerConfig) { c.Topic = "" }},
		{"OnDone", func(c *driver.ProducerConfig) { c.OnDone = nil }},
		{"acks 2", func(c *driver.ProducerConfig) { c.Acks = 2 }},
		{"acks -2", func(c *driver.ProducerConfig) { c.Acks = -2 }},
		{"idempotent needs acks all", func(c *driver.ProducerConfig) { c.Acks = driver.AcksLeader }},
		{"-1 requests in flight", func(c *driver.ProducerConfig) { c.InFlight = -1 }},
		{"linger -1s", func(c *driver.ProducerConfig) { c.Linger = -time.Second }},
		{"batches of -1 bytes", func(c *driver.ProducerConfig) { c.BatchBytes = -1 }},
		{"passes no settings on", func(c *driver.ProducerConfig) { c.Client = map[string]string{"a": "b"} }},
		{"-1 buffered", func(c *driver.ProducerConfig) { c.MaxBuffered = -1 }},
		{"delivery timeout -1s", func(c *driver.ProducerConfig) { c.DeliveryTimeout = -time.Second }},
		{`"rar" is not known`, func(c *driver.ProducerConfig) { c.Compression = "rar" }},
		{"snappy has no levels", func(c *driver.ProducerConfig) { c.Compression, c.Level = "snappy", 1 }},
		{"levels 1 to 9", func(c *driver.ProducerConfig) { c.Compression, c.Level = "gzip", 10 }},
		{"levels 1 to 22", func(c *driver.ProducerConfig) { c.Level = -1 }},
	} {
		cfg := producing()
		test.spoil(&cfg)
		wantFault(t, driver.CheckProducer(client{}, cfg), test.says)
	}
	wantFault(t, driver.CheckProducer(client{driver.Idempotence: "it is old"}, producing()), "lacks idempotent producing (it is old)")
}

func TestCheckConsumer(t *testing.T) {
	for _, test := range []struct {
		says  string
		spoil func(*driver.ConsumerConfig)
	}{
		{"", func(*driver.ConsumerConfig) {}},
		{"", func(c *driver.ConsumerConfig) { c.Protocol, c.SessionTimeout = driver.ProtocolConsumer, 0 }},
		{"", func(c *driver.ConsumerConfig) { c.Group, c.Protocol, c.Partitions = "", "", map[int32]int64{} }},
		{"no brokers", func(c *driver.ConsumerConfig) { c.Brokers = nil }},
		{"no topic", func(c *driver.ConsumerConfig) { c.Topic = "" }},
		{"no group", func(c *driver.ConsumerConfig) { c.Group = "" }},
		{"give only one of them", func(c *driver.ConsumerConfig) { c.Partitions = map[int32]int64{0: 0} }},
		{`["classic" "consumer"]`, func(c *driver.ConsumerConfig) { c.Protocol = "eager" }},
		{"the broker sets the session timeout", func(c *driver.ConsumerConfig) { c.Protocol = driver.ProtocolConsumer }},
		{`"fair" is not known`, func(c *driver.ConsumerConfig) { c.Assignor = "fair" }},
		{"only a classic group", func(c *driver.ConsumerConfig) {
			c.Assignor, c.Protocol, c.SessionTimeout = driver.Range, driver.ProtocolConsumer, 0
		}},
		{"passes no settings on", func(c *driver.ConsumerConfig) { c.Client = map[string]string{"a": "b"} }},
		{"negative session timeout", func(c *driver.ConsumerConfig) { c.SessionTimeout = -time.Second }},
		{"fetch wait", func(c *driver.ConsumerConfig) { c.FetchMaxWait = -time.Second }},
		{"at most -1 records", func(c *driver.ConsumerConfig) { c.MaxPollRecords = -1 }},
		{"negative fetch size", func(c *driver.ConsumerConfig) { c.FetchMinBytes = -1 }},
		{"negative fetch size", func(c *driver.ConsumerConfig) { c.FetchMaxBytes = -1 }},
		{"negative fetch size", func(c *driver.ConsumerConfig) { c.FetchMaxPartitionBytes = -1 }},
	} {
		cfg := consuming()
		test.spoil(&cfg)
		wantFault(t, driver.CheckConsumer(client{}, cfg), test.says)
	}
	classic, cfg := client{driver.ServerGroups: "it is old"}, consuming()
	cfg.Protocol = "eager"
	wantFault(t, driver.CheckConsumer(classic, cfg), `["classic"]`)
	cfg.Protocol = driver.ProtocolConsumer
	wantFault(t, driver.CheckConsumer(classic, cfg), "lacks the group protocol consumer (it is old)")
}

func wantFault(t *testing.T, err error, says string) {
	t.Helper()
	switch {
	case says == "" && err != nil:
		t.Errorf("refused: %v", err)
	case says != "" && (!errors.Is(err, driver.ErrConfig) || !strings.Contains(err.Error(), says)):
		t.Errorf("error %v, want one of the configuration that says %q", err, says)
	}
}

func TestHeartbeat(t *testing.T) {
	for session, want := range map[time.Duration]time.Duration{6 * time.Second: 2 * time.Second, time.Minute: 3 * time.Second} {
		if got := (driver.ConsumerConfig{SessionTimeout: session}).Heartbeat(3 * time.Second); got != want {
			t.Errorf("a session of %v: a heartbeat every %v, want %v", session, got, want)
		}
	}
}
