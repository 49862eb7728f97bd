package kgogate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
)

func (s *lagSource) topics(ctx context.Context) ([]string, error) {
	topics, err := s.named(ctx)
	if err != nil || s.match == nil {
		return topics, err
	}
	if s.looked.IsZero() || time.Since(s.looked) >= s.refresh {
		if err := s.look(ctx); err != nil {
			return nil, err
		}
	}
	topics = append(slices.Clone(topics), s.matched...)
	slices.Sort(topics)
	return slices.Compact(topics), nil
}

func (s *lagSource) named(ctx context.Context) ([]string, error) {
	if !s.cfg.MayAppear || len(s.seen) == len(s.cfg.Topics) {
		return s.cfg.Topics, nil
	}
	listed, err := s.client.ListTopics(fresh(ctx), s.cfg.Topics...)
	if err != nil {
		return nil, fmt.Errorf("kgogate: looking for the topics: %w", err)
	}
	for _, topic := range s.cfg.Topics {
		if !errors.Is(listed[topic].Err, kerr.UnknownTopicOrPartition) && !slices.Contains(s.seen, topic) {
			s.seen = append(s.seen, topic)
		}
	}
	return s.seen, nil
}

func (s *lagSource) look(ctx context.Context) error {
	listed, err := s.client.ListTopics(fresh(ctx))
	if err != nil {
		return fmt.Errorf("kgogate: looking for topics that match %s: %w", s.match, err)
	}
	s.matched = s.matched[:0]
	for _, name := range listed.Names() {
		if s.match.MatchString(name) {
			s.matched = append(s.matched, name)
		}
	}
	s.looked = time.Now()
	if len(s.matched) == 0 {
		s.notice("", "no topic matches %s, so the lag on them is 0; the source looks again every %v", s.match, s.refresh)
	}
	return nil
}

// fresh makes the admin client ask a broker: otherwise it may answer from a cache that is up to 5 s
// old.
func fresh(ctx context.Context) context.Context { return kadm.WithAuthorizedOps(ctx) }

// lookAgain makes the next reading look for matching topics, if a topic was missing. This reading
// still fails, because perhaps only one broker does not know the topic yet.
func (s *lagSource) lookAgain(err error) {
	if errors.Is(err, kerr.UnknownTopicOrPartition) {
		s.looked = time.Time{}
	}
}
