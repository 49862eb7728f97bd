package kgogate

import (
	"fmt"
	"maps"
	"slices"

	"github.com/twmb/franz-go/pkg/kadm"

	"kafkabench.example/kafka-bench/backpressure"
)

func (s *lagSource) notice(about, format string, args ...any) {
	if s.noticed[about] {
		return
	}
	s.noticed[about] = true
	if logger := s.cfg.Gate.Logger; logger != nil {
		logger.Warn("kgogate: " + fmt.Sprintf(format, args...))
	}
}

// A group that has committed nothing on topics with records may have a misspelt name.
func (s *lagSource) noticeUncommitted(partitions []backpressure.Partition, committed kadm.OffsetResponses) {
	records := make(map[string]int64)
	for _, p := range partitions {
		records[p.Topic] += p.End
	}
	committed.Each(func(o kadm.OffsetResponse) {
		if o.At >= 0 {
			delete(records, o.Topic)
		}
	})
	counts := "all that it holds counts as lag"
	if s.cfg.FromEnd {
		counts = "what comes from now on counts as lag"
	}
	for _, topic := range slices.Sorted(maps.Keys(records)) {
		if records[topic] > 0 {
			s.notice(topic, "group %s has committed nothing on topic %s, and %s until it does: is the group's name right, and does it consume?", s.cfg.Group, topic, counts)
		}
	}
}
