package clock_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"kafkabench.example/kafka-bench/internal/measure/clock"
)

const (
	us  = int64(1e3)
	ms  = int64(1e6)
	sec = int64(1e9)
)

type machine struct {
	zero, offPpb               int64
	slewFrom, slewTo, slewRate int64 // from and to in true time; rate in ppb
	stepAt, step               int64
}

func (m machine) slewNs(t int64) int64 {
	return m.slewRate * (min(max(t, m.slewFrom), m.slewTo) - m.slewFrom) / sec
}

func (m machine) ns(t int64) int64 {
	now := m.zero + t + t*m.offPpb/sec + m.slewNs(t)
	if m.step > 0 && t >= m.stepAt {
		now += m.step
	}
	return now
}

func anyMachine(r *rand.Rand, length int64) machine {
	m := machine{zero: r.Int64N(1000 * sec), offPpb: r.Int64N(100_001) - 50_000}
	if r.IntN(2) == 0 {
		m.slewFrom = r.Int64N(length)
		m.slewTo, m.slewRate = m.slewFrom+r.Int64N(length/2), r.Int64N(1_000_001)-500_000
	}
	return m
}

type used struct{ from, to, offset int64 }

// Each error covers the truth; across a step, no error is stated.
func TestErrorsCoverTheTruth(t *testing.T) {
	t.Parallel()
	stated, stepped := 0, 0
	for seed := range uint64(1000) {
		r := rand.New(rand.NewPCG(seed, 2))
		s, n := simulate(t, r)
		stated += n
		if s {
			stepped++
		}
		if t.Failed() {
			t.Fatalf("with the seed %d", seed)
		}
	}
	if stated < 100_000 || stepped < 300 {
		t.Errorf("%d errors were stated, and %d pairs had a step", stated, stepped)
	}
}

func simulate(t *testing.T, r *rand.Rand) (stepped bool, stated int) {
	const length = 30 * sec
	own, peer := anyMachine(r, length), anyMachine(r, length)
	if stepped = r.IntN(2) == 0; stepped {
		m := []*machine{&own, &peer}[r.IntN(2)]
		m.stepAt, m.step = r.Int64N(length), 50*ms+r.Int64N(10*sec)
	}
	ways := [2]int64{10*us + r.Int64N(2*ms), 10*us + r.Int64N(2*ms)}
	takes := func(way int) int64 {
		queued := int64(r.ExpFloat64() * float64(r.Int64N(300*us)+1))
		return ways[way] + min(queued, 5*ms)
	}
	var e clock.Estimator
	var open []used
	now, last := int64(0), int64(0)
	for now < length {
		now += 250 * ms
		heard := now + takes(0)
		answered := heard + r.Int64N(50*us)
		received := answered + takes(1)
		if r.IntN(20) == 0 {
			continue
		}
		_ = e.Add(clock.Echo{
			SentNs: own.ns(now), OwnSlewNs: own.slewNs(now), HeardNs: peer.ns(heard),
			PeerSlewNs: peer.slewNs(answered), AnsweredNs: peer.ns(answered), ReceivedNs: own.ns(received),
		})
		for _, u := range open {
			stated += checkUsed(t, &e, own, peer, u)
		}
		if len(open) > 4 {
			open = open[1:]
		}
		if b, known := e.At(own.ns(received)); known && r.IntN(3) > 0 {
			open = append(open, used{from: last, to: received, offset: b.OffsetNs + r.Int64N(100*us) - 50*us})
			last = received
		}
	}
	return stepped, stated
}

func checkUsed(t *testing.T, e *clock.Estimator, own, peer machine, u used) int {
	b, known := e.Over(own.ns(u.from), own.ns(u.to), u.offset)
	if !known {
		return 0
	}
	for _, m := range []machine{own, peer} {
		if m.step > 0 && u.from < m.stepAt && m.stepAt <= u.to {
			t.Errorf("a step of %d ns at %d lies in %+v, whose offset is known as %+v", m.step, m.stepAt, u, b)
		}
	}
	for i := range int64(9) {
		at := u.from + (u.to-u.from)*i/8
		truth := peer.ns(at) - own.ns(at)
		if wrong := truth - u.offset; max(wrong, -wrong) > b.ErrorNs {
			t.Errorf("at %d of %+v the offset is wrong by %d ns, and the bound is %+v", at, u, wrong, b)
		}
	}
	if b.OffsetNs != u.offset || b.ErrorNs > 20*ms {
		t.Errorf("for the offset %d used in [%d, %d] the bound is %+v", u.offset, u.from, u.to, b)
	}
	return 1
}

func instant(own, offset int64) clock.Echo {
	return clock.Echo{SentNs: own, HeardNs: own + offset, AnsweredNs: own + offset, ReceivedNs: own}
}

func add(t interface{ Fatal(...any) }, e *clock.Estimator, echoes ...clock.Echo) {
	for _, echo := range echoes {
		if err := e.Add(echo); err != nil {
			t.Fatal(err)
		}
	}
}

// If the offset changes as fast as drift allows, the true error is exactly ErrorNs.
func TestErrorIsReached(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		zero := rapid.Int64Range(-1e15, 1e15).Draw(t, "zero")
		offset := rapid.Int64Range(-1e15, 1e15).Draw(t, "offset")
		away := rapid.Int64Range(0, 1e5).Draw(t, "away")
		ahead := rapid.SampledFrom([]int64{1, -1}).Draw(t, "ahead")
		wrong := rapid.Int64Range(0, 1e6).Draw(t, "wrong")
		var e clock.Estimator
		turn := zero + 9990*away
		add(t, &e, instant(zero, offset), instant(zero+2*9990*away, offset))
		truth, used := offset+ahead*away, offset-ahead*wrong
		b, known := e.Over(turn, turn, used)
		if reached := ahead * (truth - used); !known || b != (clock.Bound{OffsetNs: used, ErrorNs: reached}) {
			t.Fatalf("the bound is %+v (%v), and the truth %d from it", b, known, reached)
		}
	})
}

func TestLaterProofsNarrow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var e clock.Estimator
		from, to, stated := int64(-1), int64(0), clock.Bound{ErrorNs: math.MaxInt64}
		for i := range rapid.Int64Range(2, 60).Draw(t, "echoes") {
			there, here := rapid.Int64Range(0, 5*ms).Draw(t, "there"), rapid.Int64Range(0, 5*ms).Draw(t, "back")
			at, slew := i*250*ms, rapid.Int64Range(0, 10*us).Draw(t, "slew")
			add(t, &e, clock.Echo{
				SentNs: at, HeardNs: at + there + slew, AnsweredNs: at + there + slew, ReceivedNs: at + there + here,
				PeerSlewNs: slew,
			})
			if i == 0 {
				from, to = at+there+here, 250*ms+rapid.Int64Range(0, sec).Draw(t, "to")
			}
			b, known := e.Over(from, to, 0)
			if known != (at >= to) {
				t.Fatalf("after an echo at %d the offset up to %d is known: %v", at, to, known)
			}
			if !known {
				continue
			}
			if b.ErrorNs > stated.ErrorNs {
				t.Fatalf("the error was %d, and is %d", stated.ErrorNs, b.ErrorNs)
			}
			if part, known := e.Over(from, (from+to)/2, 0); !known || part.ErrorNs > b.ErrorNs {
				t.Fatalf("of half of the time the error is %+v (%v), of all of it %d", part, known, b.ErrorNs)
			}
			stated = b
		}
	})
}

func TestStepMakesUnknown(t *testing.T) {
	var e clock.Estimator
	add(t, &e, instant(1*sec, 0), instant(2*sec, 0),
		clock.Echo{SentNs: 3 * sec, HeardNs: 3 * sec, AnsweredNs: 3 * sec, ReceivedNs: 3*sec + 80*ms},
		instant(4*sec, -50*ms), instant(5*sec, -50*ms))
	for _, c := range []struct {
		from, to int64
		known    bool
	}{
		{1 * sec, 2 * sec, true}, {1 * sec, 3 * sec, false}, {3*sec + 80*ms, 4 * sec, false}, {2 * sec, 5 * sec, false},
		{4 * sec, 5 * sec, true},
	} {
		if b, known := e.Over(c.from, c.to, 0); known != c.known {
			t.Errorf("from %d to %d it is known: %v, %+v", c.from, c.to, known, b)
		}
	}
	if b, known := e.At(5 * sec); !known || b != (clock.Bound{OffsetNs: -50 * ms}) {
		t.Errorf("after the step the offset is %+v, %v", b, known)
	}
}

func TestEchoesThatProveNothing(t *testing.T) {
	var e clock.Estimator
	if b, known := e.At(0); known {
		t.Errorf("before any echo the offset is %+v", b)
	}
	add(t, &e, instant(sec, 7))
	for name, echo := range map[string]clock.Echo{
		"own clock goes back":    {SentNs: 2 * sec, ReceivedNs: 2*sec - 1},
		"peer's clock goes back": {SentNs: 2 * sec, HeardNs: 1, ReceivedNs: 2 * sec},
		"longer there than here": {SentNs: 2 * sec, AnsweredNs: ms, ReceivedNs: 2*sec + 10},
		"overtaken":              instant(sec-1, 7),
		"out of range":           instant(math.MaxInt64, 0),
	} {
		if e.Add(echo) == nil {
			t.Errorf("%s: it was taken in", name)
		}
	}
	if b, known := e.Over(sec, sec, 7); !known || b != (clock.Bound{OffsetNs: 7}) {
		t.Errorf("the bound is %+v, %v", b, known)
	}
}
