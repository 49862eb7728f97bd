package sharelog

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/backpressure/shares"
)

func (m *Member) read(ctx context.Context) {
	for {
		fetches := m.client.PollFetches(ctx)
		if ctx.Err() != nil || fetches.IsClientClosed() {
			return
		}
		m.mu.Lock()
		changes, err := m.take(fetches)
		changes = append(changes, m.see(err)...)
		broken := m.broken != nil
		m.mu.Unlock()
		m.tell(changes)
		if broken {
			return
		}
	}
}

// take returns the changes that free a part. The lock is held.
func (m *Member) take(fetches kgo.Fetches) (changes []Change, err error) {
	if err = unreadable(fetches); err != nil {
		return nil, err
	}
	fetches.EachPartition(func(p kgo.FetchTopicPartition) {
		first := p.LogStartOffset
		if first < 0 && len(p.Records) > 0 { // an old broker does not report it: a missing offset may be a cut
			first = p.Records[0].Offset
		}
		m.journal.Begins(first)
		for _, r := range p.Records {
			if err != nil {
				return
			}
			var change *Change
			if change, err = m.fold(r); change != nil {
				changes = append(changes, *change)
			}
		}
	})
	return changes, err
}

// unreadable returns why the log can't be followed, or nil. It ignores errors that the client
// retries.
func unreadable(fetches kgo.Fetches) error {
	var why error
	fetches.EachError(func(_ string, _ int32, err error) {
		var coded *kerr.Error
		var lost *kgo.ErrDataLoss
		switch {
		case errors.As(err, &lost):
			why = fmt.Errorf("records of the log were lost: %w", err)
		case errors.As(err, &coded) && !coded.Retriable:
			why = err
		}
	})
	return why
}

// fold returns a change if the record freed a part of this bound. It ignores foreign records. The
// lock is held.
func (m *Member) fold(in *kgo.Record) (*Change, error) {
	r, err := shares.Decode(in.Value)
	switch {
	case errors.Is(err, shares.ErrVersion):
		return nil, fmt.Errorf("offset %d: %w", in.Offset, err)
	case err != nil:
		r = shares.Record{}
	default:
		m.heard = m.clock()
	}
	ours := r.Kind == shares.Reclaim && r.Bound == m.cfg.Bound && r.Member != m.id
	held := m.held(r.Member)
	m.journal.Fold(in.Offset, r)
	if !ours || held == 0 || m.held(r.Member) > 0 {
		return nil, nil
	}
	return &Change{
		Kind: Reclaimed, Member: r.Member, Part: m.Part(), Members: m.self.Members(m.clock()),
		Reason: fmt.Sprintf("its records are committed: a part of %.3f is free", held.Of(1)),
	}, nil
}

func (m *Member) held(id string) shares.Part {
	s := m.journal.State(m.cfg.Bound)
	if s == nil {
		return 0
	}
	e, _ := s.Member(id)
	return e.Held
}

// The lock is held.
func (m *Member) see(broken error) []Change {
	if m.broken != nil {
		return nil
	}
	if m.broken = broken; broken != nil {
		m.publish()
		m.join()
		return []Change{m.change(Broken, "the log can't be followed: "+broken.Error())}
	}
	s := m.journal.State(m.cfg.Bound)
	if s == nil {
		return m.waited()
	}
	m.heard = m.clock()
	m.self.See(m.clock(), s)
	if m.self.Expelled() && !m.retired {
		return m.rejoin(s)
	}
	m.publish()
	return m.note()
}

// waited handles a log whose beginning is missing. A living member would write a snapshot; after a
// lease and the grace time without any record, the parts are unknown for good. The lock is held.
func (m *Member) waited() []Change {
	limit := m.cfg.Lease + m.cfg.Grace
	if m.clock()-m.heard < limit {
		return nil
	}
	return m.see(fmt.Errorf("its beginning was deleted, and no member that knows the parts has written for %v; "+
		"stop all processes that use topic %s, let the group commit what is there, delete the topic and start them again", limit, m.cfg.Topic))
}

// The lock is held.
func (m *Member) rejoin(s *shares.State) []Change {
	m.told = told{}
	expelled := m.change(Expelled, fmt.Sprintf("no beat of %s was in the log for longer than %v", m.id, m.cfg.Lease))
	if m.broken = m.enter(); m.broken != nil {
		m.publish()
		return []Change{expelled, m.change(Broken, m.broken.Error())}
	}
	m.self.See(m.clock(), s)
	m.publish()
	m.hurry()
	return []Change{expelled}
}

func (m *Member) join() {
	select {
	case <-m.joined:
	default:
		close(m.joined)
	}
}

// The lock is held.
func (m *Member) note() []Change {
	if !m.self.Joined() || m.retired || m.broken != nil {
		return nil
	}
	_, until := m.self.Grant()
	fenced, part, now := m.clock() >= until, m.Part(), time.Now()
	was := m.told
	news := func(kind ChangeKind, reason string) []Change {
		m.told = told{joined: true, fenced: fenced, part: part, at: now}
		return []Change{m.change(kind, reason)}
	}
	switch {
	case !was.joined:
		m.join()
		m.hurry() // the first beat asked for nothing
		return news(Joined, "its first beat is in the log")
	case fenced && !was.fenced:
		return news(Fenced, fmt.Sprintf("no beat came back for %v", m.cfg.Lease-m.cfg.Margin))
	case !fenced && was.fenced:
		return news(Renewed, "a beat came back")
	case now.Sub(was.at) >= time.Second && max(part-was.part, was.part-part) > was.part/10:
		return news(Moved, fmt.Sprintf("from %.3f to %.3f", was.part, part))
	}
	return nil
}

// The lock is held.
func (m *Member) change(kind ChangeKind, reason string) Change {
	return Change{Kind: kind, Member: m.id, Part: m.Part(), Members: m.self.Members(m.clock()), Reason: reason}
}
