package member

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/internal/project/virtual"
	"kafkabench.example/kafka-bench/kmq/internal/engine"
	"kafkabench.example/kafka-bench/kmq/internal/lease"
)

// What the brokers do not allow is a fault of the configuration, and is called by its name.
func TestASessionTimeoutThatTheBrokersRefuse(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPlace(t) // from 1 s on
		r := newRecorder(100)
		defer r.set.Close()
		cfg := p.config(r, 100)
		cfg.SessionTimeout = 500 * time.Millisecond
		m, err := Open(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close(context.Background())
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		_, err = engine.Receive(ctx, m, 1)
		if !errors.Is(err, lease.ErrConfig) || !errors.Is(err, kerr.InvalidSessionTimeout) || !strings.Contains(err.Error(), "group.min.session.timeout.ms") {
			t.Errorf("receive: %v", err)
		}
	})
}

// Of five members on four partitions one has none, and says so.
func TestAMemberWithoutAPartitionSaysThatItWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPlace(t)
		said := make([]virtual.Log, 5)
		for i := range said {
			r := newRecorder(100)
			cfg := p.config(r, 100)
			cfg.Log = slog.New(slog.NewTextHandler(&said[i], nil))
			m, err := Open(t.Context(), cfg)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
				defer cancel()
				_ = m.Close(ctx)
				r.set.Close()
			})
		}
		waits := func() (n int) {
			for i := range said {
				n += strings.Count(said[i].String(), "waiting for the group")
			}
			return n
		}
		p.until("somebody says that it waits", func() bool { return waits() > 0 })
		if n := waits(); n != 1 {
			t.Errorf("%d say that they wait", n)
		}
	})
}

// A static member that was killed and starts again does not wait until it is put out.
func TestAStaticMemberThatRestarts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPlace(t)
		for range 2 {
			r := newRecorder(100)
			defer r.set.Close()
			var killed atomic.Bool
			cfg := p.config(r, 100)
			cfg.SessionTimeout = patience
			cfg.Client = append(cfg.Client, kgo.InstanceID("0"), kgo.Dialer(func(ctx context.Context, network, addr string) (net.Conn, error) {
				if killed.Load() {
					return nil, errors.New("it was killed")
				}
				conn, err := p.on.Access().Dial(ctx, network, addr)
				return mortal{conn, &killed}, err
			}))
			m, err := Open(t.Context(), cfg)
			if err != nil {
				t.Fatal(err)
			}
			start := time.Now()
			p.until("assignment", func() bool { return len(m.Owned()) == 4 })
			if took := time.Since(start); took > patience/4 {
				t.Errorf("it took %v", took)
			}
			killed.Store(true) // it leaves nothing behind at the cluster
			ended, cancel := context.WithCancel(t.Context())
			cancel()
			_ = m.Close(ended)
		}
	})
}

// mortal is a connection that tells the cluster nothing once its owner was killed.
type mortal struct {
	net.Conn
	killed *atomic.Bool
}

func (c mortal) Write(b []byte) (int, error) {
	if c.killed.Load() {
		return 0, net.ErrClosed
	}
	return c.Conn.Write(b)
}
