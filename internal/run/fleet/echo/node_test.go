package echo

import (
	"testing"
	"testing/synctest"
	"time"

	"kafkabench.example/kafka-bench/internal/measure/clock"
	"kafkabench.example/kafka-bench/internal/run/fleet/echo/echotest"
)

// virtual returns a clock that is ahead and has a wrong rate.
func virtual(ahead time.Duration, offPpm int64) Clock {
	start := time.Now()
	return Clock{
		NowNs: func() int64 {
			passed := int64(time.Since(start))
			return int64(ahead) + passed + passed*offPpm/1e6
		},
		SlewNs: func() int64 { return 0 },
	}
}

func start(t *testing.T, cfg Config) *Node {
	t.Helper()
	n, err := Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	})
	return n
}

// The two directions may take unequal time. A peer is silent exactly 2 s after its last answer.
func TestOffsetIsFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var wires echotest.Network
		unequal := func(from, _ string, packet []byte, arrive func([]byte, time.Duration)) {
			arrive(packet, map[string]time.Duration{"a": 3 * time.Millisecond, "b": time.Millisecond}[from])
		}
		wires.Set(unequal)
		own, other := virtual(0, 0), virtual(5*time.Second, -40)
		a := start(t, Config{Conn: wires.Listen("a"), Clock: own, Key: []byte("key"), Number: 1})
		b := start(t, Config{Conn: wires.Listen("b"), Clock: other, Key: []byte("key"), Number: 2})
		if err := a.Ask(Peer{Number: 2, Addr: b.Addr()}); err != nil {
			t.Fatal(err)
		}
		if a.Ask(Peer{3, b.Addr()}, Peer{2, b.Addr()}) == nil {
			t.Error("a peer was added twice")
		}
		time.Sleep(10*time.Second + 100*time.Millisecond)

		if got, want := a.Counts(), (Counts{Asked: 41, Proved: 41}); got != want {
			t.Errorf("a counts %+v, want %+v", got, want)
		}
		if got, want := b.Counts(), (Counts{Answered: 41}); got != want {
			t.Errorf("b counts %+v, want %+v", got, want)
		}
		used, known := a.At(2, own.NowNs())
		bound, proved := a.Over(2, 2e9, 8e9, used.OffsetNs)
		truth := 5*int64(time.Second) - 5e9*40/1e6 // at 5 s; 0.12 ms off at both ends
		wrong := max(truth-used.OffsetNs, used.OffsetNs-truth) + 120_000
		if !known || !proved || bound.ErrorNs < wrong || bound.ErrorNs > 5e6 {
			t.Errorf("the offset is %+v (%v), over 6 s %+v (%v); the truth is %d", used, known, bound, proved, truth)
		}
		if _, known := a.Over(3, 2e9, 8e9, 0); known || !a.Silent(3) || a.Add(3, clock.Echo{}) == nil {
			t.Error("something is known of a peer that is not asked")
		}

		wires.Set(func(string, string, []byte, func([]byte, time.Duration)) {})
		last := 10*time.Second + 4*time.Millisecond
		time.Sleep(last + Silence - 1 - time.Duration(own.NowNs()))
		if a.Silent(2) {
			t.Error("it is silent before 2 s")
		}
		time.Sleep(time.Nanosecond)
		if !a.Silent(2) {
			t.Error("it is not silent after 2 s")
		}
		now := own.NowNs() // the same question over the control topic
		there := other.NowNs()
		if err := a.Add(2, clock.Echo{SentNs: now, HeardNs: there, AnsweredNs: there, ReceivedNs: now}); err != nil {
			t.Error(err)
		}
		if bound, known := a.Over(2, 10.1e9, now, there-now); !known || !a.Silent(2) || bound.ErrorNs > 1e6 {
			t.Errorf("over the silence the offset is %+v (%v)", bound, known)
		}
		wires.Set(unequal)
		time.Sleep(Every + 4*time.Millisecond)
		synctest.Wait()
		if a.Silent(2) {
			t.Error("it is silent after an answer")
		}
	})
}

func TestForgedAndReplayedPackets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var wires echotest.Network
		carried := int64(0)
		wires.Set(func(_, _ string, packet []byte, arrive func([]byte, time.Duration)) {
			damaged := append([]byte(nil), packet...)
			damaged[carried%packetSize] ^= 1
			carried++
			late, _ := decode(packet, []byte("key"))
			late.heardNs += 1e9
			arrive(damaged, 0)
			arrive(late.encode([]byte("another")), 0)
			arrive(late.encode(nil), 0)
			arrive(packet, time.Millisecond)
			arrive(packet, 2*time.Millisecond) // again
			arrive(packet, time.Minute)
		})
		key := []byte("key")
		a := start(t, Config{Conn: wires.Listen("a"), Clock: virtual(0, 0), Key: key, Number: 1})
		b := start(t, Config{Conn: wires.Listen("b"), Clock: virtual(0, 0), Key: key, Number: 2})
		if err := a.Ask(Peer{2, b.Addr()}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Minute)
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		asked, answered := a.Counts(), b.Counts()
		if n := asked.Asked; n < 480 || asked.Proved != answered.Answered || n-asked.Proved > 1 {
			t.Errorf("%+v were asked, and %+v answered", asked, answered)
		}
		for _, c := range []Counts{asked, answered} {
			if c.Forged < 3*480 || c.Replayed < 710 || c.Replayed > 730 || c.Refused != 0 || c.Failed != 0 {
				t.Errorf("the counts are %+v", c)
			}
		}
		if bound, known := a.Over(2, 60e9, 60e9, 0); known {
			t.Errorf("after a minute the offset of a minute ago is %+v", bound)
		}
		if bound, known := a.At(2, 120e9); !known || max(bound.OffsetNs, -bound.OffsetNs) > 1000 || bound.ErrorNs > 2e6 {
			t.Errorf("the offset is %+v (%v)", bound, known)
		}
		b = start(t, Config{Conn: wires.Listen("b"), Clock: virtual(0, 0), Key: key, Number: 3})
		time.Sleep(10 * time.Second)
		if got := b.Counts(); got.Answered != 0 || got.Replayed < 39 {
			t.Errorf("an agent that is not asked counts %+v", got)
		}
	})
}

func TestAskersAreBounded(t *testing.T) {
	n := &Node{askers: make(map[uint64]uint64)}
	for asker := range uint64(mostAskers + 1) {
		n.admit(packet{asker: asker, sequence: 1})
	}
	if !n.admit(packet{asker: 1, sequence: 2}) || n.counts != (Counts{Answered: mostAskers + 1, Refused: 1}) {
		t.Errorf("the counts are %+v", n.counts)
	}
}
