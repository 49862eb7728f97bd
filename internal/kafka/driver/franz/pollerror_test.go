package franz

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

func TestWhichErrorsEndAConsumer(t *testing.T) {
	refused := &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	for _, test := range []struct {
		err  error
		ends bool
	}{
		{kerr.TopicAuthorizationFailed, true},
		{&kgo.ErrGroupSession{Err: kerr.GroupAuthorizationFailed}, true},
		{&kgo.ErrGroupSession{Err: kerr.InconsistentGroupProtocol}, true},
		{kerr.UnknownTopicID, true},
		{kgo.ErrClientClosed, true},
		{&kgo.ErrDecompressTooLarge{}, true},
		{errors.New("a batch that does not parse"), true},

		{kerr.NotLeaderForPartition, false},
		{kerr.UnknownServerError, false},
		{kerr.UnknownTopicOrPartition, false}, // not at once
		{&kgo.ErrGroupSession{Err: kerr.UnknownMemberID}, false},
		{&kgo.ErrGroupSession{Err: context.DeadlineExceeded}, false},
		{&kgo.ErrDataLoss{}, false},
		{refused, false},
		{fmt.Errorf("wrapped: %w", kerr.LeaderNotAvailable), false},
	} {
		w := &watch{}
		if got := w.ends(test.err); got != test.ends {
			t.Errorf("%v ends the consumer: %v, want %v", test.err, got, test.ends)
		}
	}
}

func TestUnknownTopicEndsAConsumerInTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &watch{}
		ends := func() bool { return w.ends(kerr.UnknownTopicOrPartition) }
		if ends() {
			t.Fatal("at once")
		}
		time.Sleep(unknownTopicPatience)
		if ends() {
			t.Fatal("before its time")
		}
		w.ends(kerr.LeaderNotAvailable)
		time.Sleep(time.Second)
		if ends() {
			t.Fatal("although it was known in between")
		}
		time.Sleep(unknownTopicPatience + time.Millisecond)
		if !ends() {
			t.Fatal("never")
		}
	})
}
