package truth

import (
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/project/virtual"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/observe"
)

// deaf is a connection that delivers nothing for a part of the measured window, and everything
// afterwards.
type deaf struct {
	from, until time.Duration

	heard chan []byte
	rest  []byte
	began atomic.Pointer[time.Time]
}

// hears never blocks the writer of its input.
func (d *deaf) hears(in io.Reader) io.Reader {
	d.heard = make(chan []byte, 10_000)
	go func() {
		defer close(d.heard)
		for {
			said := make([]byte, 1<<16)
			n, err := in.Read(said)
			if err != nil {
				return
			}
			d.heard <- said[:n]
		}
	}()
	return d
}

func (d *deaf) Read(p []byte) (int, error) {
	if len(d.rest) == 0 {
		d.rest = <-d.heard
		if d.rest == nil {
			return 0, io.EOF
		}
		if began := d.began.Load(); began != nil {
			if at := time.Since(*began); at >= d.from && at < d.until {
				time.Sleep(d.until - at)
			}
		}
	}
	n := copy(p, d.rest)
	d.rest = d.rest[n:]
	return n, nil
}

func (d *deaf) Began(string)             {}
func (d *deaf) Interval(result.Interval) {}
func (d *deaf) Event(e result.Event) {
	if e.Kind == "phase" && e.What == "measure" {
		d.began.Store(new(time.Now()))
	}
}

var _ observe.Watcher = (*deaf)(nil)

// The intervals continue with the other process's figures and name the late process. Nothing is
// missing afterwards.
func TestHungProcessBlindsNobody(t *testing.T) {
	t.Parallel()
	for name, h := range hanging {
		t.Run(name, func(t *testing.T) {
			virtual.Test(t, virtual.Options{}, func(t *testing.T, c *virtual.Cluster) {
				s := smallScenario(t, "hung", append(h.overrides, "phases.measure=4s", "sampling.interval=250ms")...)
				cfg, w := withCrew(t, c, s)
				d := &deaf{from: 1100 * time.Millisecond, until: 3100 * time.Millisecond}
				cfg.Watch = d
				w.within = func(name string, in io.Reader) io.Reader {
					if name == h.who {
						return d.hears(in)
					}
					return in
				}
				r := run(t, cfg)
				w.wantDone(t, 2)
				wantWhole(t, r)
				if _, blind := wantLateIntervals(t, r, h); blind > 0 {
					t.Errorf("%d intervals know nothing of the process that did not hang", blind)
				}
			})
		})
	}
}

type hung struct {
	who       string
	overrides []string
	goesOn    func(result.Interval) int64
}

var hanging = map[string]hung{
	"consumers": {
		"process 1 of the consumers", []string{"consume.consumers=2", "consume.processes=2"},
		func(iv result.Interval) int64 { return iv.Delivered },
	},
	"producers": {
		"process 1", []string{"load.processes=2"},
		func(iv result.Interval) int64 { return iv.Acked },
	},
}

// wantLateIntervals expects a process that hung for 2 s. It returns the number of intervals that
// name this process, and how many of them have no figures of the other process.
func wantLateIntervals(t *testing.T, r *result.Recorded, h hung) (late, blind int) {
	t.Helper()
	read := int64(0)
	for _, iv := range r.Intervals {
		before := read
		read = iv.ReadToNs + iv.ReadSpanNs
		if !slices.ContainsFunc(iv.Late, func(name string) bool { return strings.HasPrefix(name, h.who) }) {
			continue
		}
		// A reading that waits for the hung process may read the other one only at its end. The
		// next reading follows at once, and may find nothing new.
		if late++; h.goesOn(iv) == 0 && late > 1 && iv.ReadToNs > before {
			blind++
			t.Logf("nothing is known of the other process from %d to %d", iv.StartNs, iv.EndNs)
		}
	}
	if late < 3 {
		t.Errorf("%d intervals tell of a late process; it stood still for 2s", late)
	}
	for _, says := range []string{" does not answer", " answers again"} {
		if !slices.ContainsFunc(r.Events, func(e result.Event) bool {
			return strings.HasPrefix(e.What, h.who) && strings.HasSuffix(e.What, says)
		}) {
			t.Errorf("no event says that it%s", says)
		}
	}
	return late, blind
}
