package kgogate

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/backpressure"
)

// lagSource reads the lag of a consumer group. It is safe for concurrent use: concurrent readings run one after the other.
type lagSource struct {
	reader  *kgo.Client
	client  *kadm.Client
	cfg     Config
	match   *regexp.Regexp // nil: no topic by pattern
	refresh time.Duration  // how often to look for matching topics

	mu      sync.Mutex
	seen    []string // with MayAppear: the named topics that existed once
	matched []string
	looked  time.Time // zero: not yet
	first   map[partition]int64
	rests   map[partition]*rest
	typed   bool            // the group is known to be no share group
	noticed map[string]bool // reported notices, by topic; "" is the pattern
}

type partition struct {
	topic string
	id    int32
}

func (p partition) String() string { return fmt.Sprintf("%s/%d", p.topic, p.id) }

// Lag returns the source that [Open] reads, for a gate before another client: the lag of cfg.Group on
// the topics of cfg, read through client. The other fields but Gate.Logger are not used. The error joins
// all mistakes.
//
// The lag of a partition is its high watermark − the group's committed offset. A reading asks for the committed offsets
// first, so the lag never looks too small, and a bound holds. If a commit stands still for 5 s, records that the log no
// longer has are no lag. If the whole partition does, the source looks whether its rest has a record that a consumer
// can read, which needs the right to read the topic: ends of transactions, aborted and compacted records are no lag. A
// reading costs one request for all committed offsets of the group, and one to each broker for the high watermarks. It
// works with the classic protocol, with KIP-848, and with consumers that assign partitions themselves and commit. Share
// groups (KIP-932) have no committed offsets: the reading fails.
func Lag(client *kgo.Client, cfg Config) (backpressure.Source, error) {
	s := &lagSource{cfg: cfg, refresh: 30 * time.Second, first: make(map[partition]int64), rests: make(map[partition]*rest), noticed: make(map[string]bool)}
	var faults []error
	if client == nil {
		faults = append(faults, errNoClient)
	} else {
		s.reader, s.client = client, kadm.NewClient(client)
	}
	if cfg.Group == "" {
		faults = append(faults, errors.New("kgogate: no group: name the consumer group whose lag is to be read"))
	}
	if len(cfg.Topics) == 0 && cfg.TopicRegex == "" {
		faults = append(faults, errors.New("kgogate: no topic: give Topics, TopicRegex or both"))
	}
	if cfg.TopicRegex != "" {
		var err error
		if s.match, err = regexp.Compile(cfg.TopicRegex); err != nil {
			faults = append(faults, fmt.Errorf("kgogate: TopicRegex: %w", err))
		}
	}
	s.cfg.Topics = slices.Compact(slices.Sorted(slices.Values(cfg.Topics)))
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	return s, nil
}

// Read implements [backpressure.Source]. It returns an error if the lag of any partition is not
// known. The error names the partition, and wraps Kafka's own error (package kerr).
func (s *lagSource) Read(ctx context.Context) (backpressure.Reading, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	topics, err := s.topics(ctx)
	if err != nil {
		return backpressure.Reading{}, err
	}
	if len(topics) == 0 {
		return backpressure.Reading{Partitions: []backpressure.Partition{}}, nil
	}
	committed, err := s.committed(ctx)
	if err == nil && len(committed) == 0 {
		err = s.refuseShareGroup(ctx)
	}
	if err != nil {
		return backpressure.Reading{}, err
	}
	ends, err := s.client.ListEndOffsets(ctx, topics...)
	if err = s.check("high watermark", ends, err); err != nil {
		return backpressure.Reading{}, err
	}
	partitions := withEnds(ends, committed)
	s.noticeUncommitted(partitions, committed)
	if err := s.begin(ctx, partitions); err != nil {
		return backpressure.Reading{}, err
	}
	unreadable, err := s.countRecords(ctx, partitions)
	if err != nil {
		return backpressure.Reading{}, err
	}
	r := reading(partitions)
	r.Unreadable = unreadable
	return r, nil
}

// refuseShareGroup returns an error for a share group, which commits no offsets. Without the right to list groups it does
// not know.
func (s *lagSource) refuseShareGroup(ctx context.Context) error {
	if s.typed {
		return nil
	}
	listed, err := s.client.ListGroupsByType(ctx, []string{"share"})
	if err != nil {
		return nil
	}
	if _, share := listed[s.cfg.Group]; share {
		return fmt.Errorf("kgogate: group %s is a share group (KIP-932), which commits no offsets: its lag cannot be read, and a gate would close for good; use another engine or group, or give Gate.Source", s.cfg.Group)
	}
	s.typed = true
	return nil
}

func (s *lagSource) committed(ctx context.Context) (kadm.OffsetResponses, error) {
	committed, err := s.client.FetchOffsets(ctx, s.cfg.Group)
	if errors.Is(err, kerr.GroupIDNotFound) {
		return nil, nil
	}
	if err == nil {
		err = committed.Error()
	}
	if err != nil {
		return nil, fmt.Errorf("kgogate: reading the committed offsets of group %s: %w", s.cfg.Group, err)
	}
	return committed, nil
}

const nowhere = -1

func withEnds(ends kadm.ListedOffsets, committed kadm.OffsetResponses) []backpressure.Partition {
	var all []backpressure.Partition
	ends.Each(func(o kadm.ListedOffset) {
		p := backpressure.Partition{Topic: o.Topic, ID: o.Partition, Committed: nowhere, End: o.Offset}
		if c, ok := committed.Lookup(o.Topic, o.Partition); ok && c.At >= 0 && c.At <= p.End {
			p.Committed = c.At
		}
		all = append(all, p)
	})
	slices.SortFunc(all, func(a, b backpressure.Partition) int {
		if c := strings.Compare(a.Topic, b.Topic); c != 0 {
			return c
		}
		return int(a.ID) - int(b.ID)
	})
	return all
}

func (s *lagSource) begin(ctx context.Context, partitions []backpressure.Partition) error {
	if s.cfg.FromEnd {
		s.beginAtFirst(partitions)
		return nil
	}
	var topics []string
	for i, p := range partitions {
		switch {
		case p.Committed != nowhere:
		case p.End == 0: // never written to: no need to ask
			partitions[i].Committed = 0
		case len(topics) == 0 || topics[len(topics)-1] != p.Topic:
			topics = append(topics, p.Topic)
		}
	}
	if len(topics) == 0 {
		return nil
	}
	// Records that retention deletes between the two requests are no lag.
	starts, err := s.client.ListStartOffsets(ctx, topics...)
	if err = s.check("first offset", starts, err); err != nil {
		return err
	}
	for i, p := range partitions {
		if p.Committed == nowhere {
			start, _ := starts.Lookup(p.Topic, p.ID) // 0 for a new partition: all that it holds counts
			partitions[i].Committed = min(start.Offset, p.End)
		}
	}
	return nil
}

// beginAtFirst counts from the end that a partition had when it was first seen. If the end falls
// below that, records were lost, and counting begins again at the new end.
func (s *lagSource) beginAtFirst(partitions []backpressure.Partition) {
	for i, p := range partitions {
		id := partition{p.Topic, p.ID}
		if p.Committed != nowhere {
			delete(s.first, id)
			continue
		}
		first, seen := s.first[id]
		if !seen || first > p.End {
			first = p.End
			s.first[id] = first
		}
		partitions[i].Committed = first
	}
}

func reading(partitions []backpressure.Partition) backpressure.Reading {
	r := backpressure.Reading{Partitions: partitions}
	for _, p := range partitions {
		r.Lag += p.End - p.Committed
		r.Committed += p.Committed
	}
	return r
}

func (s *lagSource) check(what string, listed kadm.ListedOffsets, err error) error {
	if err != nil {
		s.lookAgain(err)
		return fmt.Errorf("kgogate: reading the %ss: %w", what, err)
	}
	var (
		bad   []partition
		cause = make(map[partition]error)
	)
	listed.Each(func(o kadm.ListedOffset) {
		if o.Err != nil {
			id := partition{o.Topic, o.Partition}
			bad, cause[id] = append(bad, id), o.Err
		}
	})
	if len(bad) == 0 {
		return nil
	}
	slices.SortFunc(bad, func(a, b partition) int { return strings.Compare(a.String(), b.String()) })
	s.lookAgain(cause[bad[0]])
	name, more := bad[0].String(), ""
	if bad[0].id < 0 { // the admin client's error for a whole topic
		name = bad[0].topic
	}
	if len(bad) > 1 {
		more = fmt.Sprintf(" (and of %d more)", len(bad)-1)
	}
	err = fmt.Errorf("kgogate: the %s of %s%s is not known: %w", what, name, more, cause[bad[0]])
	if errors.Is(err, kerr.UnknownTopicOrPartition) && !s.cfg.MayAppear && slices.Contains(s.cfg.Topics, bad[0].topic) {
		return fmt.Errorf("%w (if the first record creates the topic, set Config.MayAppear)", err)
	}
	return err
}
