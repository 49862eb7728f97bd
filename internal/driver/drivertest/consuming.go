package drivertest

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafka-bench/internal/driver"
)

var groupTests = []test{
	{name: "share", run: testShare},
	{name: "spare member", run: testSpareMember},
	{name: "join and leave", run: testJoinAndLeave},
	{name: "commit and resume", run: testCommitAndResume},
	{name: "commit on revoke", run: testCommitOnRevoke},
	{name: "pause", run: testPause, needs: []driver.Capability{driver.PausePartitions}},
	{name: "pause ends with ownership", run: testPauseEnds, needs: []driver.Capability{driver.PausePartitions}},
	{name: "pause on assignment", run: testPauseOnAssignment, needs: []driver.Capability{driver.PausePartitions}},
	{name: "poll ends with its context", run: testPollContext},
	{name: "poll at most", run: testPollAtMost},
	{name: "read wire", run: testReadWire, needs: []driver.Capability{driver.CountWire}},
	{name: "read requests", run: testReadRequests, needs: []driver.Capability{driver.TimeRequests}},
	{name: "kill", run: testKill, needs: []driver.Capability{driver.KillConsumer, driver.SessionTimeouts}},
}

// testShare: the members of a group have all partitions, each once, and receive
// every record, once.
func testShare(t *testing.T, s suite) {
	const partitions, members, n = 6, 3, 600
	topic := s.topic(t, partitions)
	group := make([]*member, members)
	for i := range group {
		group[i] = s.join(t, topic, topic)
	}
	for _, m := range group {
		m.awaitOwned(t, partitions/members)
	}
	checkShared(t, partitions, group)
	s.fill(t, topic, partitions, n)
	received := make(map[string]int)
	for _, m := range group {
		m.awaitReceived(t, n/members)
		for _, records := range m.all() {
			for _, r := range records {
				received[string(r.Value)]++
			}
		}
	}
	for i := range n {
		if times := received[string(value(i))]; times != 1 {
			t.Fatalf("record %d was received %d times", i, times)
		}
	}
}

func checkShared(t testing.TB, partitions int, group []*member) {
	t.Helper()
	var owned []int32
	for _, m := range group {
		owned = append(owned, m.partitions()...)
	}
	slices.Sort(owned)
	for i := range partitions {
		if i >= len(owned) || owned[i] != int32(i) || len(owned) != partitions {
			t.Fatalf("the members own %v, want 0 to %d, each once", owned, partitions-1)
		}
	}
}

// testSpareMember: a member for which no partition is left hears that it joined.
func testSpareMember(t *testing.T, s suite) {
	topic := s.topic(t, 1)
	first, second := s.join(t, topic, topic), s.join(t, topic, topic)
	for _, m := range []*member{first, second} {
		m.await(t, "the assignment", func() bool { return m.joined })
	}
}

// testJoinAndLeave: partitions move when a member joins, and come back when it
// leaves, and the callbacks tell.
func testJoinAndLeave(t *testing.T, s suite) {
	const partitions = 4
	topic := s.topic(t, partitions)
	first := s.join(t, topic, topic)
	first.awaitOwned(t, partitions)
	second := s.join(t, topic, topic)
	second.awaitOwned(t, partitions/2)
	first.awaitOwned(t, partitions/2)
	checkShared(t, partitions, []*member{first, second})
	if first.revoked == 0 {
		t.Error("OnRevoked was not called when partitions moved to the second member")
	}
	second.close()
	if owned := second.partitions(); len(owned) != 0 {
		t.Errorf("after Close, OnRevoked has not taken back partitions %v", owned)
	}
	first.awaitOwned(t, partitions)
}

// testCommitAndResume: the next member of the group goes on where the last one
// committed, not where it stopped. With the records comes the partition's end.
func testCommitAndResume(t *testing.T, s suite) {
	const n, committed = 100, 40
	topic := s.topic(t, 1)
	s.fill(t, topic, 1, n)
	m := s.join(t, topic, topic)
	m.awaitReceived(t, n)
	if err := m.consumer.Commit(context.Background(), map[int32]int64{0: committed}); err != nil {
		t.Fatal(err)
	}
	m.close()
	next := s.join(t, topic, topic)
	next.awaitReceived(t, n-committed)
	next.close()
	if got := next.all()[0]; len(got) != n-committed || got[0].Offset != committed {
		t.Fatalf("resumed at offset %d with %d records, want %d with %d", got[0].Offset, len(got), committed, n-committed)
	}
	// While records are written a broker may tell one that is behind them; nobody
	// writes now.
	if next.ends[0] != n {
		t.Errorf("the high watermark of a partition of %d records came as %d", n, next.ends[0])
	}
}

// testCommitOnRevoke: when partitions move while records flow, and every member
// commits what it received in OnRevoked, no record is received twice and none is
// left out. It fails if the client does not wait for the callback, or lets it run
// between returning records and the next poll: the members take note of what
// came only a while after the poll.
func testCommitOnRevoke(t *testing.T, s suite) {
	const partitions, n = 4, 4000
	topic := s.topic(t, partitions)
	commits := func(m *member) { m.commits, m.pause = true, 20*time.Millisecond }
	first := s.join(t, topic, topic, commits)
	first.awaitOwned(t, partitions)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.trickle(t, topic, partitions, n)
	}()
	first.awaitReceived(t, 1)
	second := s.join(t, topic, topic, commits)
	second.awaitOwned(t, partitions/2)
	<-ended
	second.close()
	first.await(t, "all records", func() bool { return first.count()+second.total() >= n })
	received := make(map[string]int)
	for _, m := range []*member{first, second} {
		for _, records := range m.all() {
			for _, r := range records {
				received[string(r.Value)]++
			}
		}
	}
	for i := range n {
		if times := received[string(value(i))]; times != 1 {
			t.Errorf("record %d was received %d times", i, times)
		}
	}
}

// trickle produces n records over a while.
func (s suite) trickle(t testing.TB, topic string, partitions, n int) {
	out := newOutbox()
	p, err := s.driver.NewProducer(s.config(topic, out.onDone))
	if err != nil {
		t.Error(err)
		return
	}
	defer p.Close()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for i := range n {
		p.Produce(&driver.Record{Partition: int32(i % partitions), Value: value(i)})
		if i%2 == 0 {
			<-tick.C
		}
	}
	if err := p.Flush(context.Background()); err != nil {
		t.Error(err)
	}
}

// testPause: a paused partition gives nothing while the others go on, and gives
// everything after it is resumed.
func testPause(t *testing.T, s suite) {
	const n = 100
	topic := s.topic(t, 2)
	m := s.join(t, topic, topic)
	pauser := m.consumer.(driver.Pauser)
	m.awaitOwned(t, 2)
	pauser.Pause(0)
	s.fill(t, topic, 2, 2*n)
	m.await(t, "the records of partition 1", func() bool { return len(m.received[1]) == n })
	if got := len(m.all()[0]); got > 0 {
		t.Fatalf("received %d records of the paused partition", got)
	}
	pauser.Resume(0)
	m.await(t, "the records of partition 0", func() bool { return len(m.received[0]) == n })
	for i, r := range m.all()[0] {
		if want := value(2 * i); !bytes.Equal(r.Value, want) {
			t.Fatalf("offset %d is %q, want %q", i, r.Value, want)
		}
	}
}

// testPauseEnds: a paused partition that moves away and comes back is not paused.
func testPauseEnds(t *testing.T, s suite) {
	const partitions, n = 2, 10
	topic := s.topic(t, partitions)
	first := s.join(t, topic, topic)
	pauser := first.consumer.(driver.Pauser)
	first.awaitOwned(t, partitions)
	pauser.Pause(0, 1)
	second := s.join(t, topic, topic)
	second.awaitOwned(t, 1)
	moved := second.partitions()[0]
	second.close()
	first.awaitOwned(t, partitions)
	s.fill(t, topic, partitions, partitions*n)
	first.await(t, "the records of the partition that came back", func() bool { return len(first.received[moved]) == n })
}

// testPauseOnAssignment: a member that pauses what it is assigned, in the callback,
// receives nothing of it while it polls, and keeps it; then it receives all.
func testPauseOnAssignment(t *testing.T, s suite) {
	const partitions, n = 3, 300
	topic := s.topic(t, partitions)
	s.fill(t, topic, partitions, n)
	m := s.join(t, topic, topic, func(m *member) { m.holds = true })
	s.letGo(t, m, partitions, n)
}

// letGo checks that a member that holds what it owns has received nothing, and
// that it receives all n records once it resumes.
func (s suite) letGo(t *testing.T, m *member, partitions, n int) {
	t.Helper()
	pauser := m.consumer.(driver.Pauser)
	m.awaitOwned(t, partitions)
	time.Sleep(500 * time.Millisecond) // several fetches' worth
	if got := m.total(); got > 0 {
		t.Fatalf("received %d records of paused partitions", got)
	}
	if owned := m.partitions(); len(owned) != partitions || m.revoked > 0 {
		t.Fatalf("while it was paused, %d of %d partitions were taken away", partitions-len(owned), partitions)
	}
	pauser.Resume(m.partitions()...)
	m.awaitReceived(t, n)
}

// testPollContext: a poll of nothing ends with its context, empty, also when the
// context has ended before.
func testPollContext(t *testing.T, s suite) {
	topic := s.topic(t, 1)
	m := s.join(t, topic, topic)
	m.awaitOwned(t, 1)
	m.stop()
	<-m.stopped
	for _, timeout := range []time.Duration{0, 200 * time.Millisecond} {
		ctx, cancel := context.WithTimeout(context.Background(), timeout)
		started := time.Now()
		chunks, err := m.consumer.Poll(ctx)
		cancel()
		if took := time.Since(started); err != nil || len(chunks) > 0 || took > timeout+2*time.Second {
			t.Fatalf("a poll of at most %v gave %d chunks and error %v after %v", timeout, len(chunks), err, took)
		}
	}
}

// testPollAtMost: polls that are bounded stay within the bound and leave nothing
// out.
func testPollAtMost(t *testing.T, s suite) {
	const partitions, n, atMost = 2, 1000, 7
	topic := s.topic(t, partitions)
	s.fill(t, topic, partitions, n)
	m := s.join(t, topic, topic, func(m *member) { m.atMost = atMost })
	m.awaitReceived(t, n)
	for partition, records := range m.all() {
		for i, r := range records {
			if want := value(partitions*i + int(partition)); !bytes.Equal(r.Value, want) {
				t.Fatalf("partition %d offset %d is %q, want %q", partition, r.Offset, r.Value, want)
			}
		}
	}
}

// testReadWire: the wire counts agree with what was received.
func testReadWire(t *testing.T, s suite) {
	const n = 500
	topic := s.topic(t, 1)
	s.fill(t, topic, 1, n)
	m := s.join(t, topic, topic)
	counter := m.consumer.(driver.WireCounter)
	m.awaitReceived(t, n)
	m.close()
	w := counter.Wire()
	payload := int64(n * len(value(0)))
	switch {
	case w.BatchRecords < n:
		t.Errorf("%d records in batches, want %d or more", w.BatchRecords, n)
	case w.Batches < 1 || w.Batches > w.BatchRecords:
		t.Errorf("%d batches of %d records", w.Batches, w.BatchRecords)
	case w.UncompressedBytes < payload || w.CompressedBytes < payload:
		t.Errorf("batches of %d bytes before compression and %d after, for %d bytes of values",
			w.UncompressedBytes, w.CompressedBytes, payload)
	case w.ReadBytes < w.CompressedBytes || w.WrittenBytes < 1:
		t.Errorf("%d bytes read and %d written, for batches of %d bytes", w.ReadBytes, w.WrittenBytes, w.CompressedBytes)
	}
}

// testReadRequests: fetches are counted and take time, those that wait for records
// included.
func testReadRequests(t *testing.T, s suite) {
	const n = 100
	topic := s.topic(t, 1)
	s.fill(t, topic, 1, n)
	m := s.join(t, topic, topic)
	timer := m.consumer.(driver.RequestTimer)
	m.awaitReceived(t, n)
	awaitCount(t, func() bool { return timer.Requests().Fetch.Count > 1 })
	got := timer.Requests()
	if f := got.Fetch; f.Time <= 0 || f.Time > patience || f.Connections < 1 {
		t.Errorf("%d fetches in %v on %d connections", f.Count, f.Time, f.Connections)
	}
	if got.Produce.Count != 0 {
		t.Errorf("a consumer made %d produce requests", got.Produce.Count)
	}
}

var handTests = []test{
	{name: "by hand", run: testByHand, needs: []driver.Capability{driver.ManualPartitions}},
	{name: "by hand paused", run: testByHandPaused, needs: []driver.Capability{driver.ManualPartitions, driver.PausePartitions}},
	{name: "by hand nothing", run: testByHandNothing, needs: []driver.Capability{driver.ManualPartitions}},
	{name: "control records", run: testControlRecords, needs: []driver.Capability{driver.ManualPartitions, driver.ReadControl}},
}

// testByHand: without a group a client reads the partitions that it was given,
// each from its offset, and no others, and cannot commit.
func testByHand(t *testing.T, s suite) {
	const partitions, n = 3, 300
	topic := s.topic(t, partitions)
	s.fill(t, topic, partitions, n)
	m := s.join(t, topic, "", func(m *member) { m.byHand = map[int32]int64{0: 0, 2: 40} })
	m.awaitOwned(t, 2)
	m.awaitReceived(t, n/partitions+n/partitions-40)
	all := m.all()
	if len(all[0]) != 100 || len(all[1]) != 0 || len(all[2]) != 60 || all[2][0].Offset != 40 {
		t.Fatalf("received %d, %d and %d records, want 100 from offset 0, none, and 60 from offset 40", len(all[0]), len(all[1]), len(all[2]))
	}
	for i, r := range all[0] {
		if want := value(partitions * i); !bytes.Equal(r.Value, want) {
			t.Fatalf("offset %d is %q, want %q", i, r.Value, want)
		}
	}
	if err := m.consumer.Commit(context.Background(), map[int32]int64{0: 1}); err == nil {
		t.Error("a commit without a group did not fail")
	}
}

// testByHandPaused: a pause in the callback comes before the first fetch.
func testByHandPaused(t *testing.T, s suite) {
	const partitions, n = 2, 200
	topic := s.topic(t, partitions)
	s.fill(t, topic, partitions, n)
	m := s.join(t, topic, "", func(m *member) { m.byHand, m.holds = map[int32]int64{0: 0, 1: 0}, true })
	s.letGo(t, m, partitions, n)
}

// testByHandNothing: a client without partitions hears so, polls nothing, and
// ends.
func testByHandNothing(t *testing.T, s suite) {
	topic := s.topic(t, 1)
	s.fill(t, topic, 1, 10)
	m := s.join(t, topic, "", func(m *member) { m.byHand = map[int32]int64{} })
	m.await(t, "the assignment", func() bool { return m.joined })
	time.Sleep(200 * time.Millisecond)
	m.close()
	if got := m.total(); got > 0 {
		t.Errorf("received %d records without a partition", got)
	}
}

// testControlRecords: the marks that transactions leave in the log are no records,
// and yet the client says that it has passed them.
func testControlRecords(t *testing.T, s suite) {
	topic := s.topic(t, 2)
	const transactions, n = 3, 5
	end := int64(transactions * (n + 1))
	s.transact(t, topic, transactions, n)
	m := s.join(t, topic, "", func(m *member) { m.byHand, m.control = map[int32]int64{0: 0, 1: 0}, true })
	m.await(t, "the end of the partition", func() bool { return m.next[0] == end })
	if got := m.all()[0]; len(got) != transactions*n {
		t.Errorf("received %d records of %d transactions with %d each", len(got), transactions, n)
	}
	plain := s.join(t, topic, "", func(m *member) { m.byHand = map[int32]int64{0: 0} })
	plain.awaitReceived(t, transactions*n)
	if plain.next[0] != 0 {
		t.Errorf("the next offset is %d though nobody asked", plain.next[0])
	}
}

// transact writes n records to partition 0 in each of several transactions.
func (s suite) transact(t *testing.T, topic string, transactions, n int) {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(s.env.Brokers...), kgo.DisableClientMetrics(),
		kgo.TransactionalID(topic), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for range transactions {
		if err := client.BeginTransaction(); err != nil {
			t.Fatal(err)
		}
		for i := range n {
			client.Produce(context.Background(), &kgo.Record{Topic: topic, Value: value(i)}, nil)
		}
		if err := client.Flush(context.Background()); err != nil {
			t.Fatal(err)
		}
		if err := client.EndTransaction(context.Background(), kgo.TryCommit); err != nil {
			t.Fatal(err)
		}
	}
}

var settingsTests = []test{
	{name: "settings", run: testSettings},
	{name: "bad configuration", run: testBadConfig},
}

// testSettings: settings are sorted and complete enough to show what was set,
// durations in Go's form.
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

// testBadConfig: what cannot work is refused, as bad input.
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
