package sharelog

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/backpressure"
	"kafkabench.example/kafka-bench/backpressure/shares"
)

// Member is one process's part in a bound. It implements [backpressure.Share].
type Member struct {
	cfg    Config
	client *kgo.Client
	admin  *kadm.Client
	epoch  time.Time

	now    atomic.Pointer[grant]
	gate   atomic.Pointer[attached]
	joined chan struct{} // closed when the member has read itself in the log
	prompt chan struct{} // asks for a beat at once
	cut    chan int64    // asks to delete the records before an offset
	stop   context.CancelFunc
	work   sync.WaitGroup
	end    sync.Once

	mu      sync.Mutex
	journal *shares.Journal
	self    *shares.Member
	id      string
	meter   shares.Meter
	sending bool
	retired bool
	left    bool
	sent    []stamp       // when beats were sent, also by the wall clock
	heard   time.Duration // when a record was last read, or the log's beginning was last known
	broken  error
	told    told
}

type told struct {
	joined, fenced bool
	part           float64
	at             time.Time
}

type attached struct{ gate Gate }

// Join takes part in a bound. It returns when the member has read its first beat back; its part is
// still 0. If ctx ends before, it returns an error, and the member is closed.
func Join(ctx context.Context, cfg Config) (*Member, error) {
	cfg, err := cfg.completed()
	if err != nil {
		return nil, err
	}
	client, err := kgo.NewClient(options(cfg)...)
	if err != nil {
		return nil, fmt.Errorf("sharelog: %w", err)
	}
	m := &Member{
		cfg: cfg, client: client, admin: kadm.NewClient(client), epoch: time.Now(),
		joined: make(chan struct{}), prompt: make(chan struct{}, 1), cut: make(chan int64, 1),
	}
	m.now.Store(&grant{})
	first, end, err := m.openTopic(ctx)
	if err == nil {
		err = m.enter()
	}
	if err != nil {
		client.Close()
		return nil, fmt.Errorf("sharelog: topic %s: %w", cfg.Topic, err)
	}
	m.journal, m.heard = shares.NewJournal(first, end), m.clock()
	client.AddConsumePartitions(map[string]map[int32]kgo.Offset{cfg.Topic: {0: kgo.NewOffset().At(first)}})
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	m.stop = stop
	m.work.Go(func() { m.read(running) })
	m.work.Go(func() { m.beat(running) })
	m.work.Go(func() { m.tidy(running) })
	return m, m.settle(ctx)
}

func (m *Member) settle(ctx context.Context) error {
	select {
	case <-m.joined:
		m.mu.Lock()
		err := m.broken
		m.mu.Unlock()
		if err == nil {
			return nil
		}
		return errors.Join(err, m.Close())
	case <-ctx.Done():
		return errors.Join(fmt.Errorf("sharelog: no beat came back from topic %s before joining ended: %w",
			m.cfg.Topic, context.Cause(ctx)), m.Close())
	}
}

func (m *Member) enter() error {
	var unique [8]byte
	if _, err := rand.Read(unique[:]); err != nil {
		return fmt.Errorf("no random name: %w", err)
	}
	id := m.cfg.Member + "-" + hex.EncodeToString(unique[:])
	self, err := shares.NewMember(shares.Config{
		ID: id, Lease: m.cfg.Lease, Margin: m.cfg.Margin, Grace: m.cfg.Grace,
		Floor: shares.Part(m.cfg.Floor * float64(shares.Whole)),
	})
	if err != nil {
		return err
	}
	m.self, m.id, m.sent = self, id, nil
	return nil
}

// Attach sets the gate of this share. Until then the part is 0.
func (m *Member) Attach(gate Gate) {
	m.gate.Store(&attached{gate: gate})
	m.hurry()
}

// Leave gives the part back, and ends the member. It waits until this process's outstanding records
// are committed; the gate must still get readings meanwhile (Watch or Report). If ctx ends before,
// the part of the uncommitted records stays held until the other members see them committed. The
// part that may be used is 0 from the call on.
func (m *Member) Leave(ctx context.Context) error {
	m.mu.Lock()
	m.retired = true
	m.self.Retire()
	m.mu.Unlock()
	m.hurry()
	m.drain(ctx)
	err := m.sayLeave(ctx)
	return errors.Join(err, m.Close())
}

func (m *Member) drain(ctx context.Context) {
	tick := time.NewTicker(m.cfg.Beat / 4)
	defer tick.Stop()
	for {
		m.lower()
		if m.load().Outstanding == 0 {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// sayLeave waits up to half a lease even if ctx has ended: otherwise the others notice only after a
// whole lease.
func (m *Member) sayLeave(ctx context.Context) error {
	m.lower()
	load := m.load()
	m.mu.Lock()
	m.left = true
	record := m.self.Leave(m.clock(), load)
	m.mu.Unlock()
	ctx, done := context.WithTimeout(context.WithoutCancel(ctx), m.cfg.Lease/2)
	defer done()
	entry, err := m.entry(record)
	if err != nil {
		return err
	}
	if err := m.client.ProduceSync(ctx, entry).FirstErr(); err != nil {
		return fmt.Errorf("sharelog: the record that %s leaves was not written: %w; the others notice after %v", m.id, err,
			m.cfg.Lease)
	}
	return nil
}

// Close ends the member without a last record, so the others notice after the lease. The part is 0
// from then on. It is safe to call again.
func (m *Member) Close() error {
	m.end.Do(func() {
		m.stop()
		m.work.Wait()
		m.now.Store(&grant{})
		m.client.Close()
	})
	return nil
}

var _ backpressure.Share = (*Member)(nil)
