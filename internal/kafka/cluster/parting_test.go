package cluster

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// If a member's connection ends while its JoinGroup waits, the member leaves the group one session
// timeout after the answer.
func TestVanishedWhileJoining(t *testing.T) {
	inVirtualTime(t, EmbeddedOptions{}, func(t *testing.T, e *Embedded) {
		const session, vanish = 10 * time.Second, 20
		stays := newJoiner(t, e, time.Minute)
		stays.join(t)
		ctx, die := context.WithCancel(t.Context())
		defer die()
		var all []*joiner
		for range vanish {
			j := newJoiner(t, e, session)
			go j.req.RequestWith(ctx, j.client) // the broker answers when all others have joined
			time.Sleep(time.Second)
			all = append(all, j)
		}
		die()
		for _, j := range all {
			for len(j.conns) > 0 {
				(<-j.conns).Close()
			}
		}
		time.Sleep(time.Second)
		stays.join(t)
		time.Sleep(session - time.Nanosecond)
		if n := len(e.Fake().GroupInfo("group").Members); n != 1+vanish {
			t.Errorf("%d members before the sessions end, want %d", n, 1+vanish)
		}
		time.Sleep(2 * time.Nanosecond)
		if n := len(e.Fake().GroupInfo("group").Members); n != 1 {
			t.Errorf("%d members after the sessions ended, want the one that stays", n)
		}
	})
}

type joiner struct {
	client *kgo.Client
	conns  chan net.Conn
	req    *kmsg.JoinGroupRequest
}

func newJoiner(t *testing.T, e *Embedded, session time.Duration) *joiner {
	t.Helper()
	j := &joiner{conns: make(chan net.Conn, 10), req: kmsg.NewPtrJoinGroupRequest()}
	dial := func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := e.Access().Dial(ctx, network, address)
		j.conns <- conn
		return conn, err
	}
	client, err := newClient(e.Bootstrap(), e.Access(), kgo.Dialer(dial))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	j.client = client
	protocol := kmsg.NewJoinGroupRequestProtocol()
	protocol.Name = "any"
	j.req.Group, j.req.ProtocolType, j.req.Protocols = "group", "test", append(j.req.Protocols, protocol)
	j.req.SessionTimeoutMillis = int32(session.Milliseconds())
	j.req.RebalanceTimeoutMillis = int32(time.Minute.Milliseconds())
	resp, err := j.req.RequestWith(t.Context(), client)
	if err != nil || resp.ErrorCode != kerr.MemberIDRequired.Code {
		t.Fatal(err, resp)
	}
	j.req.MemberID = resp.MemberID
	return j
}

func (j *joiner) join(t *testing.T) {
	t.Helper()
	joined, err := j.req.RequestWith(t.Context(), j.client)
	if err != nil || joined.ErrorCode != 0 || joined.LeaderID != j.req.MemberID {
		t.Fatal(err, joined)
	}
	sync := kmsg.NewPtrSyncGroupRequest()
	sync.Group, sync.MemberID, sync.Generation = j.req.Group, j.req.MemberID, joined.Generation
	if synced, err := sync.RequestWith(t.Context(), j.client); err != nil || synced.ErrorCode != 0 {
		t.Fatal(err, synced)
	}
}
