package truth

import (
	"context"
	"net"
	"slices"
	"sort"
	"sync/atomic"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/access"
	"kafkabench.example/kafka-bench/internal/measure/latency"
	"kafkabench.example/kafka-bench/internal/project/virtual"
	"kafkabench.example/kafka-bench/internal/result"
)

// mute is a network that sends nothing for a part of the measured window, and everything
// afterwards.
type mute struct {
	from, length time.Duration
	began        atomic.Pointer[time.Time]
}

func (m *mute) Began(string)             {}
func (m *mute) Interval(result.Interval) {}
func (m *mute) Event(e result.Event) {
	if e.Kind == "phase" && e.What == "measure" {
		m.began.Store(new(time.Now()))
	}
}

func (m *mute) on(dial access.Dial) access.Dial {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		return muted{c, m}, err
	}
}

type muted struct {
	net.Conn
	m *mute
}

func (c muted) Write(p []byte) (int, error) {
	if began := c.m.began.Load(); began != nil {
		if at := time.Since(*began); at >= c.m.from && at < c.m.from+c.m.length {
			time.Sleep(c.m.from + c.m.length - at)
		}
	}
	return c.Conn.Write(p)
}

type silent struct {
	*virtual.Cluster
	m *mute
}

func (s silent) Access() access.Access {
	a := s.Cluster.Access()
	a.Dial = s.m.on(a.Dial)
	return a
}

// The tail of the response times is what arithmetic predicts: a record is due each millisecond, and
// records due from 2 s on wait until the stall's end.
func TestStandstill(t *testing.T) {
	t.Parallel()
	virtual.Test(t, virtual.Options{}, func(t *testing.T, c *virtual.Cluster) {
		const due, after, length = 2 * time.Second, 100 * time.Microsecond, 3 * time.Second
		m := &mute{from: due + after, length: length}
		cfg := config(t, c, smallScenario(t, "standstill", "phases.measure=8s"))
		cfg.Cluster, cfg.Watch = silent{c, m}, m
		r := run(t, cfg)
		wantWhole(t, r)
		totals := histograms(t, r)
		for _, metric := range []string{"send_response_time", "e2e_response_time"} {
			wantTime(t, metric+" min", r.Run.Time[metric].MinNs, after) // of the last record that waited
			wantTime(t, metric+" max", r.Run.Time[metric].MaxNs, length+after)
			for sixth := 1; sixth <= 5; sixth++ {
				x := length * time.Duration(sixth) / 6
				// A record each millisecond, from the first to the one that took x + after.
				wantCount(t, metric+" above "+x.String(), int64(above(totals[metric], x)), int64((length-x)/time.Millisecond)+1)
			}
		}
		// The first record of each partition that waited was due at two seconds, or 1 ms later.
		gaps := r.Run.Gaps
		if gaps == nil || gaps.AtLeastNs != 250e6 || gaps.LeftOut != 0 || len(gaps.Acks) != 2 ||
			!slices.Equal(gaps.Acks, gaps.Deliveries) {
			t.Fatalf("the gaps are %+v", gaps)
		}
		for i, gap := range gaps.Acks {
			wantCount(t, "a gap's begin", gap.FromNs, int64(due+time.Duration(i)*time.Millisecond))
			wantCount(t, "a gap's end", gap.ToNs, int64(due+after+length))
		}
		if gaps.Acks[0].Partition == gaps.Acks[1].Partition {
			t.Errorf("both gaps are in partition %d", gaps.Acks[0].Partition)
		}
	})
}

func above(h *latency.Histogram, x time.Duration) int {
	n := int(h.Count())
	return n - sort.Search(n, func(i int) bool { return h.Percentile(100*float64(i+1)/float64(n)) > int64(x) })
}
