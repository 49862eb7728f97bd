package franz

import (
	"errors"
	"fmt"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/kafka/driver/meter"
)

func TestOutcome(t *testing.T) {
	var (
		nothing  = meter.Traffic{}
		answered = meter.Traffic{Began: 3}
		cutOff   = meter.Traffic{Began: 3, Unanswered: 1}
	)
	tooLarge := fmt.Errorf("%w (uncompressed_bytes=%d, compressed_bytes=%d)", kerr.MessageTooLarge, 9, 9)
	tooLargeForClient := fmt.Errorf("%w (uncompressed_bytes=%d)", kerr.MessageTooLarge, 9)
	noPartition := errors.New("invalid record partitioning choice of 7 from 1 available")

	for _, test := range []struct {
		err     error
		during  meter.Traffic
		ordered bool
		want    driver.Outcome
	}{
		{kgo.ErrRecordTimeout, nothing, false, driver.Failed},
		{kgo.ErrRecordTimeout, answered, true, driver.Unknown},
		{kgo.ErrRecordTimeout, cutOff, true, driver.Unknown},
		{kgo.ErrRecordRetries, answered, true, driver.Unknown},
		{kgo.ErrClientClosed, nothing, false, driver.Failed},
		{kgo.ErrClientClosed, answered, true, driver.Unknown},
		{errors.New("of a kind not known"), answered, true, driver.Unknown},

		{tooLargeForClient, cutOff, false, driver.Failed},
		{noPartition, cutOff, false, driver.Failed},

		{tooLarge, answered, true, driver.Failed},
		{tooLarge, answered, false, driver.Unknown},
		{tooLarge, cutOff, true, driver.Unknown},
		{kerr.TopicAuthorizationFailed, answered, true, driver.Failed},
		{fmt.Errorf("wrapped: %w", kerr.InvalidRecord), answered, true, driver.Failed},
		{kerr.UnknownTopicID, answered, true, driver.Failed},

		{kerr.RequestTimedOut, answered, true, driver.Unknown},
		{kerr.NotEnoughReplicasAfterAppend, answered, true, driver.Unknown},
		{kerr.NotEnoughReplicas, answered, true, driver.Unknown},
		{kerr.UnknownServerError, answered, true, driver.Unknown},
		{kerr.KafkaStorageError, answered, true, driver.Unknown},
		{kerr.OutOfOrderSequenceNumber, answered, true, driver.Unknown},
	} {
		if got := outcome(test.err, test.during, test.ordered); got != test.want {
			t.Errorf("%v with %+v, ordered %v: %v, want %v", test.err, test.during, test.ordered, got, test.want)
		}
	}
}
