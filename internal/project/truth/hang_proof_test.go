//go:build proof

package truth

import (
	"syscall"
	"testing"
	"time"
)

func TestHungProcess(t *testing.T) {
	for name, h := range hanging {
		t.Run(name, func(t *testing.T) {
			s := smallScenario(t, "hung", append(h.overrides, "phases.measure=4s", "sampling.interval=250ms")...)
			cfg := config(t, loopback(t), s)
			cfg.Watch = &outsider{who: h.who, sends: map[time.Duration]syscall.Signal{
				time.Second: syscall.SIGSTOP, 3 * time.Second: syscall.SIGCONT,
			}}
			r := run(t, cfg)
			wantBalance(t, r)
			wantHistograms(t, r)
			wantCount(t, "lost", r.Run.Delivery.Lost, 0)
			if late, blind := wantLateIntervals(t, r, h); blind >= late/2 { // on a busy machine a reading is late itself
				t.Errorf("%d of %d intervals know nothing of the process that did not hang", blind, late)
			}
			wantProcessesGone(t, r, 2)
		})
	}
}
