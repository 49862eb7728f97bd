package bench

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/probe"
)

func TestReplicated(t *testing.T) {
	lag := func(bytes int64) probe.TopicSize {
		return probe.TopicSize{Bytes: 300 - bytes, Replicas: 3, LeadBytes: 100}
	}
	for name, c := range map[string]struct {
		looks  []probe.TopicSize // the last repeats; an empty one is an error
		size   probe.TopicSize
		behind int64
		took   time.Duration
		fails  bool
	}{
		"all have the same":   {[]probe.TopicSize{lag(0)}, lag(0), 0, 0, false},
		"they come after":     {[]probe.TopicSize{lag(90), lag(40), lag(0)}, lag(0), 90, 2 * replicatedPoll, false},
		"one never does":      {[]probe.TopicSize{lag(90), lag(70)}, lag(70), 90, replicatedTimeout, false},
		"a later look fails":  {[]probe.TopicSize{lag(90), {}}, lag(90), 90, replicatedPoll, false},
		"the first one fails": {[]probe.TopicSize{{}}, probe.TopicSize{}, 0, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n, began := 0, time.Now()
				size, behind, err := replicated(t.Context(), func(context.Context) (probe.TopicSize, error) {
					look := c.looks[min(n, len(c.looks)-1)]
					if n++; look == (probe.TopicSize{}) {
						return look, errors.New("the brokers don't tell")
					}
					return look, nil
				})
				if size != c.size || behind != c.behind || (err != nil) != c.fails || time.Since(began) != c.took {
					t.Errorf("%+v, %d behind, %v after %v; want %+v", size, behind, err, time.Since(began), c)
				}
			})
		})
	}
}
