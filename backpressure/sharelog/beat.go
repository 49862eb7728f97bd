package sharelog

import (
	"context"
	"log/slog"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/backpressure/shares"
)

func (m *Member) hurry() {
	select {
	case m.prompt <- struct{}{}:
	default:
	}
}

func (m *Member) beat(ctx context.Context) {
	tick := time.NewTicker(m.cfg.Beat)
	defer tick.Stop()
	for {
		m.beatOnce(ctx)
		select {
		case <-ctx.Done():
			return
		case <-m.prompt:
		case <-tick.C:
		}
	}
}

// beatOnce appends no beat while the last one is under way: a second would only queue behind it.
func (m *Member) beatOnce(ctx context.Context) {
	m.lower()
	load := m.load()
	m.mu.Lock()
	changes := m.note()
	if m.journal.State(m.cfg.Bound) == nil {
		changes = append(changes, m.see(nil)...)
	}
	var records []shares.Record
	if m.journal.State(m.cfg.Bound) != nil && m.broken == nil {
		now := m.clock()
		if !m.sending && !m.left {
			m.sending = true
			m.stamped(now)
			records = append(records, m.self.Beat(now, load))
		}
		records = append(records, m.self.Reclaims(now)...)
		if m.journal.Due(m.cfg.Bound, m.id) {
			records = append(records, m.journal.Snapshot())
		}
	}
	m.mu.Unlock()
	m.tell(changes)
	for _, r := range records {
		m.append(ctx, r)
	}
}

// append neither waits nor retries: the next beat says the same.
func (m *Member) append(ctx context.Context, r shares.Record) {
	entry, err := m.entry(r)
	if err != nil {
		m.appended(r, err)
		return
	}
	m.client.Produce(ctx, entry, func(_ *kgo.Record, err error) { m.appended(r, err) })
}

func (m *Member) appended(r shares.Record, err error) {
	if r.Kind == shares.Beat {
		m.mu.Lock()
		m.sending = false
		m.mu.Unlock()
	}
	if err == nil && r.Kind == shares.Snapshot {
		select {
		case m.cut <- r.Before:
		default:
		}
	}
	if err != nil && m.cfg.Logger != nil {
		m.cfg.Logger.Debug("share record not appended", slog.String("kind", string(r.Kind)), slog.Any("error", err))
	}
}

// tidy does what may take long. It reads the group's offsets while a dead member's part waits to be
// reclaimed, and deletes the records that a snapshot covers.
func (m *Member) tidy(ctx context.Context) {
	tick := time.NewTicker(m.cfg.Beat)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case before := <-m.cut:
			m.deleteBefore(ctx, before)
		case <-tick.C:
			m.readDrained(ctx)
		}
	}
}

func (m *Member) readDrained(ctx context.Context) {
	m.mu.Lock()
	asked := m.clock()
	wanted := m.self.Undrained(asked)
	m.mu.Unlock()
	if !wanted {
		return
	}
	ctx, done := context.WithTimeout(ctx, m.cfg.Lease)
	defer done()
	reading, err := m.cfg.Source.Read(ctx)
	if err != nil {
		return // the part stays held until a reading succeeds
	}
	partitions := make([]shares.Partition, len(reading.Partitions))
	for i, p := range reading.Partitions {
		partitions[i] = shares.Partition{Topic: p.Topic, ID: p.ID, Committed: p.Committed, End: p.End}
	}
	m.mu.Lock()
	m.self.Drain(asked, partitions)
	m.mu.Unlock()
}

func (m *Member) deleteBefore(ctx context.Context, offset int64) {
	ctx, done := context.WithTimeout(ctx, m.cfg.Lease)
	defer done()
	var offsets kadm.Offsets
	offsets.AddOffset(m.cfg.Topic, 0, offset, -1)
	responses, err := m.admin.DeleteRecords(ctx, offsets)
	if err == nil {
		err = responses.Error()
	}
	if err != nil && m.cfg.Logger != nil {
		m.cfg.Logger.Warn("share log not truncated: it grows until records can be deleted",
			slog.String("topic", m.cfg.Topic), slog.Int64("before_offset", offset), slog.Any("error", err))
	}
}
