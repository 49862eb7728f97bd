package drivertest

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/plan/native"
)

var assignorTests = []test{
	{name: "share", run: testShare},
	{name: "join and leave", run: testJoinAndLeave},
	{name: "commit on revoke", run: testCommitOnRevoke},
	{name: "pause on assignment", run: testPauseOnAssignment, needs: []driver.Capability{driver.PausePartitions}},
	{name: "settings", run: testAssignorSetting},
}

func (s suite) assignors() []string {
	return slices.DeleteFunc(slices.Clone(driver.Assignors), func(name string) bool {
		return name == driver.Sticky && s.lacks(driver.StickyAssignor) ||
			name == driver.Cooperative && s.lacks(driver.CooperativeSticky)
	})
}

func testAssignorSetting(t *testing.T, s suite) {
	c, err := s.driver.NewConsumer(s.groupConfig(s.topic(t, 1), "assignor-"+s.assignor))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	checkSettings(t, c.Settings(), s.assignor)
}

func testOneRecordBatches(t *testing.T, s suite) {
	const partitions, n = 2, 40
	topic := s.topic(t, partitions)
	cfg := s.config(topic, nil)
	cfg.OneRecord, cfg.Linger = true, 20*time.Millisecond
	s.send(t, cfg, partitions, n)

	var seen batches
	client, err := kgo.NewClient(append(s.env.Access.Options(), kgo.SeedBrokers(s.env.Brokers...),
		kgo.DisableClientMetrics(), kgo.ConsumeTopics(topic), kgo.WithHooks(&seen))...)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for seen.records.Load() < n && ctx.Err() == nil {
		client.PollFetches(ctx)
	}
	if records, batches := seen.records.Load(), seen.batches.Load(); records != n || batches != n {
		t.Errorf("%d records in %d batches, want %d in as many", records, batches, n)
	}
}

type batches struct{ batches, records atomic.Int64 }

func (b *batches) OnFetchBatchRead(_ kgo.BrokerMetadata, _ string, _ int32, m kgo.FetchBatchMetrics) {
	b.batches.Add(1)
	b.records.Add(int64(m.NumRecords))
}

// Each setting gets the first of these values that the driver accepts.
var values = []string{
	"7s", "true", "false", "71000", "7", "700", "200000000", "a-rack", "v4", "resolve_canonical_bootstrap_servers_only", "none", "lifo",
}

// CheckTables checks that the driver accepts and reports a value for each passed-on setting, and rejects all others
// as an ErrConfig that does not show the value.
func CheckTables(t *testing.T, d driver.Driver) {
	tuner := d.(driver.Tuner)
	produce, consume := tuner.Tables()
	base := driver.ProducerConfig{
		Brokers: []string{nobody}, Topic: Topic, Acks: driver.AcksAll, DeliveryTimeout: 30 * time.Second,
		Linger: time.Millisecond, OnDone: func(driver.Done) {},
	}
	try := func(given map[string]string) error {
		cfg := base
		cfg.Client = given
		return tuner.TryProducer(cfg)
	}
	given := checkTable(t, produce, consume, try)
	checkShown(t, given, Producer(t, d, driver.ProducerConfig{Linger: base.Linger}).Settings(),
		Producer(t, d, driver.ProducerConfig{Linger: base.Linger, Client: given}).Settings())

	group := driver.ConsumerConfig{Brokers: []string{nobody}, Topic: Topic, Group: "g", Protocol: driver.ProtocolClassic}
	try = func(given map[string]string) error {
		cfg := group
		cfg.Client = given
		return tuner.TryConsumer(cfg)
	}
	given = checkTable(t, consume, produce, try)
	checkShown(t, given, Consumer(t, d, driver.ConsumerConfig{}).Settings(),
		Consumer(t, d, driver.ConsumerConfig{Client: given}).Settings())
	if _, err := d.NewConsumer(driver.ConsumerConfig{
		Brokers: []string{nobody}, Topic: Topic, Partitions: map[int32]int64{}, Client: map[string]string{"sasl.password": "s"},
	}); !errors.Is(err, driver.ErrConfig) {
		t.Errorf("a credential by hand: %v, want driver.ErrConfig", err)
	}
}

// Names that the other table (the producer's or the consumer's) refuses must be refused too.
func checkTable(t *testing.T, table, other native.Table, try func(map[string]string) error) map[string]string {
	t.Helper()
	given := make(map[string]string)
	for _, name := range table.Passed {
		if !slices.ContainsFunc(values, func(value string) bool {
			given[name] = value
			return try(given) == nil
		}) {
			t.Errorf("%s takes none of %q: %v", name, values, try(map[string]string{name: values[0]}))
			delete(given, name)
		}
	}
	const secret = "what-nobody-may-see"
	refused := slices.Concat(slices.Collect(maps.Keys(table.Keys)), slices.Collect(maps.Keys(table.Ours)),
		slices.Collect(maps.Keys(other.Keys)), slices.Collect(maps.Keys(other.Ours)), []string{"sasl.password", "ssl.key.password", "bootstrap.servers", "Net.SASL.Password", "no.such.name"})
	for _, name := range refused {
		if slices.Contains(table.Passed, name) {
			continue
		}
		err := try(map[string]string{name: secret})
		if !errors.Is(err, driver.ErrConfig) || !strings.Contains(err.Error(), name) || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v, want a refusal that names it, wraps driver.ErrConfig and shows no value", name, err)
		}
	}
	if len(table.Passed) > 0 {
		slip := table.Passed[0] + "s"
		if err := try(map[string]string{slip: "1"}); err == nil || !strings.Contains(err.Error(), table.Passed[0]) {
			t.Errorf("%s: %v, want the nearest name", slip, err)
		}
	}
	return given
}

func checkShown(t *testing.T, given map[string]string, before, after []driver.Setting) {
	t.Helper()
	values := func(settings []driver.Setting) map[string]string {
		all := make(map[string]string)
		for _, s := range settings {
			all[s.Name] = s.Value
		}
		return all
	}
	was, is := values(before), values(after)
	for name, value := range given {
		if is[name] == "" || is[name] == was[name] && value != was[name] {
			t.Errorf("%s was set to %s, and the settings show %q, as before: %q", name, value, is[name], was[name])
		}
	}
}
