//go:build librdkafka && cgo && full

package librdkafka

import (
	"errors"
	"fmt"
	"testing"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
)

func TestOutcome(t *testing.T) {
	for _, test := range []struct {
		err      error
		troubled bool
		want     driver.Outcome
	}{
		{is(kafka.ErrMsgSizeTooLarge), false, driver.Failed},
		{is(kafka.ErrMsgSizeTooLarge), true, driver.Unknown}, // an earlier request may have contained it
		{is(kafka.ErrUnknownPartition), false, driver.Failed},
		{is(kafka.ErrTopicAuthorizationFailed), false, driver.Failed},
		{fmt.Errorf("wrapped: %w", is(kafka.ErrInvalidRecord)), false, driver.Failed},
		// Never sent, or sent and not answered: the client does not report which.
		{is(kafka.ErrMsgTimedOut), false, driver.Unknown},
		{is(kafka.ErrPurgeInflight), false, driver.Unknown},
		{is(kafka.ErrPurgeQueue), false, driver.Unknown}, // it may have been sent before
		{is(kafka.ErrFatal), false, driver.Unknown},
		{is(kafka.ErrRequestTimedOut), false, driver.Unknown},
		{is(kafka.ErrNotEnoughReplicasAfterAppend), false, driver.Unknown},
		{is(kafka.ErrOutOfOrderSequenceNumber), false, driver.Unknown},
		{errors.New("something else"), false, driver.Unknown},
	} {
		if got := outcome(test.err, test.troubled); got != test.want {
			t.Errorf("%v (troubled %t): %v, want %v", test.err, test.troubled, got, test.want)
		}
	}
}

func is(code kafka.ErrorCode) error { return kafka.NewError(code, "", false) }

func TestEnds(t *testing.T) {
	for code, want := range map[kafka.ErrorCode]bool{
		kafka.ErrTransport:                false,
		kafka.ErrAllBrokersDown:           false,
		kafka.ErrMaxPollExceeded:          false,
		kafka.ErrUnknownTopicOrPart:       false, // a new topic; see patience
		kafka.ErrTopicAuthorizationFailed: true,
		kafka.ErrInvalidSessionTimeout:    true,
	} {
		if got := ends(kafka.NewError(code, "", false)); got != want {
			t.Errorf("%v ends a consumer: %t, want %t", code, got, want)
		}
	}
	if !ends(kafka.NewError(kafka.ErrFatal, "", true)) {
		t.Error("a fatal error does not end a consumer")
	}
}
