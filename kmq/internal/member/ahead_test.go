package member

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// What nobody asks for is not begun, however much may be in flight: it stays in the client.
func TestLittleIsBegunAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const produced = 10_000
		p := newPlace(t)
		p.produce(produced)
		r := newRecorder(produced)
		m := p.open(r, produced)
		p.until("records", func() bool { return r.set.Len() > 0 })
		time.Sleep(200 * time.Millisecond)
		if n := r.set.Len(); n > 3*leastAhead {
			t.Errorf("%d records are in flight, and nobody has asked for one", n)
		}
		// What was handed out is not ahead any more, though nobody settles it.
		for n := 0; n < produced; {
			leases, err := m.Receive(t.Context(), 10)
			if err != nil {
				t.Fatalf("receive: %v, after %d", err, n)
			}
			n += len(leases)
		}
	})
}

// pacer paces a recorder, which is not kept from being given all that there is.
type pacer struct{ *recorder }

func (pacer) Pace(context.Context) bool { return true }

func TestAPacedHandlerIsGivenAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const produced = 10_000
		p := newPlace(t)
		p.produce(produced)
		r := newRecorder(2 * produced)
		cfg := p.config(r, 2*produced)
		cfg.Handler = pacer{r}
		m, err := Open(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		defer r.set.Close()
		defer m.Close(context.Background())
		p.until("all records", func() bool { return r.set.Len() == produced })
	})
}
