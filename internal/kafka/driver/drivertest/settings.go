package drivertest

import (
	"errors"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
)

var settingsTests = []test{
	{name: "settings", run: testSettings},
	{name: "bad configuration", run: testBadConfig},
}

func testSettings(t *testing.T, s suite) {
	topic := s.topic(t, 1)
	cfg := s.config(topic, func(driver.Done) {})
	cfg.ClientID, cfg.Linger, cfg.BatchBytes, cfg.Compression = "a-producer", 1234*time.Millisecond, 54321, "lz4"
	checkSettings(t, s.producer(t, cfg).Settings(), "a-producer", "1.234s", "54321", "lz4")

	for _, protocol := range s.protocols() {
		s.protocol = protocol
		group := s.groupConfig(topic, "a-group-"+protocol)
		group.ClientID, group.FetchMaxWait, group.FetchMinBytes = "a-consumer", 345*time.Millisecond, 4321
		c, err := s.driver.NewConsumer(group)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		checkSettings(t, c.Settings(), "a-consumer", group.Group, "345ms", "4321")
	}
}

func checkSettings(t *testing.T, settings []driver.Setting, want ...string) {
	t.Helper()
	values := make(map[string]bool)
	for i, setting := range settings {
		values[setting.Value] = true
		if setting.Name == "" || i > 0 && settings[i-1].Name >= setting.Name {
			t.Errorf("setting %d (%q) has no name, or is not in order, or is there twice", i, setting.Name)
		}
	}
	for _, value := range want {
		if !values[value] {
			t.Errorf("no setting has the value %q:\n%v", value, settings)
		}
	}
}

func testBadConfig(t *testing.T, s suite) {
	producers := map[string]func(*driver.ProducerConfig){
		"no brokers":    func(c *driver.ProducerConfig) { c.Brokers = nil },
		"no topic":      func(c *driver.ProducerConfig) { c.Topic = "" },
		"no OnDone":     func(c *driver.ProducerConfig) { c.OnDone = nil },
		"unknown codec": func(c *driver.ProducerConfig) { c.Compression = "rar" },
		"level":         func(c *driver.ProducerConfig) { c.Compression, c.Level = "gzip", 99 },
		"level of none": func(c *driver.ProducerConfig) { c.Compression, c.Level = "none", 1 },
		"acks":          func(c *driver.ProducerConfig) { c.Acks = 2 },
		"linger":        func(c *driver.ProducerConfig) { c.Linger = -time.Second },
	}
	for name, spoil := range producers {
		cfg := s.config("topic", func(driver.Done) {})
		spoil(&cfg)
		p, err := s.driver.NewProducer(cfg)
		if err == nil {
			p.Close()
		}
		checkConfigError(t, "producer: "+name, err)
	}
	consumers := map[string]func(*driver.ConsumerConfig){
		"no brokers": func(c *driver.ConsumerConfig) { c.Brokers = nil },
		"no topic":   func(c *driver.ConsumerConfig) { c.Topic = "" },
		"no group":   func(c *driver.ConsumerConfig) { c.Group = "" },
		"both":       func(c *driver.ConsumerConfig) { c.Partitions = map[int32]int64{0: 0} },
		"protocol":   func(c *driver.ConsumerConfig) { c.Protocol = "eager" },
		"fetch wait": func(c *driver.ConsumerConfig) { c.FetchMaxWait = -time.Second },
	}
	for name, spoil := range consumers {
		s.protocol = s.protocols()[0]
		cfg := s.groupConfig("topic", "group")
		spoil(&cfg)
		c, err := s.driver.NewConsumer(cfg)
		if err == nil {
			c.Close()
		}
		checkConfigError(t, "consumer: "+name, err)
	}
}

func checkConfigError(t *testing.T, name string, err error) {
	t.Helper()
	if !errors.Is(err, driver.ErrConfig) {
		t.Errorf("%s: error %v, want one that wraps driver.ErrConfig", name, err)
	}
}
