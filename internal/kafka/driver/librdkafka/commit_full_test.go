//go:build librdkafka && cgo && full

package librdkafka

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"
)

// TestCloseWithoutAnAnswer: if the client does not answer a call in time, Close leaves the client
// open, because the call still uses it.
func TestCloseWithoutAnAnswer(t *testing.T) {
	for _, name := range []string{"a commit before it", "a commit as it revokes", "letting go"} {
		t.Run(name, func(t *testing.T) {
			m := newMember(t, false)
			m.join(t)
			m.patient = 10 * time.Millisecond
			answers := make(chan struct{})
			m.commitAt = func([]kafka.TopicPartition) ([]kafka.TopicPartition, error) {
				<-answers
				return nil, nil
			}
			commit := func() {
				ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
				defer cancel()
				if err := m.Commit(ctx, map[int32]int64{0: 1}); err == nil {
					t.Error("the commit did not fail")
				}
			}
			switch name {
			case "a commit before it":
				commit()
			case "a commit as it revokes":
				m.onRevoked = func([]int32, bool) { commit() }
			default:
				m.letGo = func([]kafka.TopicPartition) error {
					<-answers
					return nil
				}
			}
			m.Close()
			if m.client.IsClosed() {
				t.Error("the client was closed under the commit")
			}
			if !slices.ContainsFunc(m.errs, func(err error) bool { return errors.Is(err, errUnanswered) }) {
				t.Errorf("reported are %v, want %v", m.errs, errUnanswered)
			}

			close(answers)
			m.onRevoked = func([]int32, bool) {}
			for going := true; going; {
				_, going = m.resume()
			}
			if !m.client.IsClosed() {
				t.Error("the client is open")
			}
		})
	}
}
