package control

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"testing"
)

type book struct {
	*State
	t         *testing.T
	offset    int64
	sequences map[uint64]uint64
}

func newBook(t *testing.T) *book {
	return &book{State: NewState(testKey, topicID), t: t, sequences: make(map[uint64]uint64)}
}

const chief = 1000

func (b *book) append(r Record) Change {
	b.t.Helper()
	b.sequences[r.Instance]++
	r.Sequence = b.sequences[r.Instance]
	c, err := b.Apply(Entry{Offset: b.offset, Record: seal(b.t, testKey, r)})
	if err != nil {
		b.t.Fatal(err)
	}
	b.offset++
	return c
}

func (b *book) say(agent int, instance uint64, run int, body Body, want Effect) Change {
	b.t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		b.t.Fatal(err)
	}
	c := b.append(Record{Kind: body.Kind(), Run: run, Agent: agent, Instance: instance, Pieces: 1, Body: text})
	if c.Effect != want {
		b.t.Errorf("a %v of agent %d, instance %d: effect %d, want %d", body.Kind(), agent, instance, c.Effect, want)
	}
	return c
}

func (b *book) hello(agent int, instance uint64, want Effect) Change {
	b.t.Helper()
	return b.say(agent, instance, b.run, Hello{Index: agent, Of: 2, Instance: instance}, want)
}

func (b *book) hand(instance uint64, number, piece, pieces int, text string, want Effect) []byte {
	b.t.Helper()
	c := b.append(Record{
		Kind: KindSnapshot, Run: b.run, Instance: instance, Number: number, Piece: piece, Pieces: pieces, Last: number == 1,
		Body: []byte(text),
	})
	if c.Effect != want {
		b.t.Errorf("piece %d of %d of snapshot %d: effect %d, want %d", piece, pieces, number, c.Effect, want)
	}
	return c.Snapshot
}

// started has the instances 1 and 2, whose first run has started.
func started(t *testing.T) *book {
	b := newBook(t)
	b.hello(0, 1, Applied)
	b.say(Coordinator, chief, 1, Plan{RunID: "first"}, Applied)
	b.hello(1, 2, Applied)
	b.say(0, 1, 1, Ready{Partitions: []int32{0}}, Applied)
	b.say(1, 2, 1, Ready{Partitions: []int32{1}}, Applied)
	b.say(Coordinator, chief, 1, Start{Instances: []uint64{1, 2}, ClocksNs: []int64{5, 6}, Owners: []int{0, 1, -1}}, Applied)
	return b
}

func TestLaterHelloCounts(t *testing.T) {
	b := newBook(t)
	b.hello(0, 1, Applied)
	b.say(Coordinator, chief, 1, Plan{}, Applied)
	b.say(0, 1, 1, Ready{}, Applied)
	if c := b.hello(0, 3, Applied); c.Replaced != 1 {
		t.Errorf("the hello replaced instance %d, want 1", c.Replaced)
	}
	b.say(0, 1, 1, Ready{}, Zombie)
	b.hello(0, 1, Zombie)
	if b.Mine(1) != Replaced || b.Mine(3) != Valid || b.Mine(4) != Unheard {
		t.Errorf("the instances stand at %d, %d and %d", b.Mine(1), b.Mine(3), b.Mine(4))
	}
	if !slices.Equal(b.Missing(2), []int{1}) || !slices.Equal(b.Unready(2), []int{0, 1}) {
		t.Errorf("missing %v, unready %v; a replaced instance is not ready", b.Missing(2), b.Unready(2))
	}
	b.say(0, 3, 1, Ready{Failed: "no topic"}, Applied)
	if unready := b.Unready(1); len(unready) != 1 {
		t.Error("an agent that failed is ready")
	}
	b.say(0, 3, 1, Ready{}, Applied)
	if unready := b.Unready(1); len(unready) != 0 || !slices.Equal(b.Instances(2), []uint64{3, 0}) {
		t.Errorf("unready %v, instances %v", unready, b.Instances(2))
	}
}

func TestClaimAfterStart(t *testing.T) {
	b := started(t)
	b.hello(1, 3, Outdated)
	b.say(1, 3, 1, Sent{}, Zombie)
	if b.Mine(3) != TooLate || b.Mine(2) != Valid {
		t.Errorf("the instances stand at %d and %d", b.Mine(3), b.Mine(2))
	}
	b.say(Coordinator, chief, 2, Plan{}, Applied)
	b.hello(1, 3, Zombie) // it has left, or should have
	b.hello(1, 4, Applied)
	if b.Mine(2) != Replaced || b.Mine(4) != Valid {
		t.Errorf("before the next start the instances stand at %d and %d", b.Mine(2), b.Mine(4))
	}
}

func TestStartForAReplacedInstance(t *testing.T) {
	b := newBook(t)
	b.hello(0, 1, Applied)
	b.say(Coordinator, chief, 1, Plan{}, Applied)
	b.hello(0, 2, Applied)
	b.say(Coordinator, chief, 1, Start{Instances: []uint64{1}}, Void)
	b.say(Coordinator, chief, 1, Start{Instances: []uint64{2}, ClocksNs: []int64{5}, Owners: []int{1}}, Void)
	b.say(Coordinator, chief, 1, Start{Instances: []uint64{2}, Owners: []int{0}}, Void)
	b.say(Coordinator, chief, 1, Start{}, Void)
	b.say(Coordinator, chief, 1, Start{Instances: []uint64{2}, ClocksNs: []int64{5}, Owners: []int{0}}, Applied)
	b.say(Coordinator, chief, 1, Start{Instances: []uint64{2}}, Outdated)
	if got := b.Start(); got == nil || !slices.Equal(got.Owners, []int{0}) {
		t.Errorf("the start is %+v", got)
	}
}

func TestRunsOfASession(t *testing.T) {
	b := started(t)
	b.say(0, 1, 1, Ready{}, Outdated)
	b.say(0, 1, 1, Pulse{Acked: 7}, Applied)
	b.say(0, 1, 1, Sent{AckedIn: []int64{9}}, Applied)
	b.say(Coordinator, chief, 1, Stop{AtNs: 5}, Applied)
	b.say(Coordinator, chief, 1, Stop{AtNs: 4}, Outdated)
	if a, _ := b.Agent(0); a.Pulse.Acked != 7 || !slices.Equal(a.Sent.AckedIn, []int64{9}) || b.Stop().AtNs != 5 {
		t.Errorf("agent 0 is %+v, stop %+v", a, b.Stop())
	}
	b.say(Coordinator, chief, 1, Plan{}, Outdated)
	b.say(Coordinator, chief, 2, Plan{RunID: "second"}, Applied)
	b.say(1, 2, 1, Sent{}, Outdated)
	b.say(1, 2, 2, Sent{}, Outdated) // before the start
	want := Agent{Instance: 1, Hello: Hello{Index: 0, Of: 2, Instance: 1}}
	if a, known := b.Agent(0); !known || !reflect.DeepEqual(a, want) {
		t.Errorf("of the first run there is left %+v", a)
	}
	if b.Run() != 2 || b.Plan().RunID != "second" || b.Start() != nil || b.Stop() != nil || len(b.Missing(2)) != 0 {
		t.Errorf("run %d: plan %+v, start %+v, stop %+v", b.Run(), b.Plan(), b.Start(), b.Stop())
	}
	b.say(Coordinator, 2000, 3, Plan{}, Zombie)
	b.say(Coordinator, chief, 2, End{Reason: "done"}, Applied)
	b.say(Coordinator, chief, 3, Plan{}, Outdated)
	b.say(0, 1, 2, Ready{}, Outdated)
	b.hello(0, 8, Outdated)
	if b.End().Reason != "done" || b.Run() != 2 || b.Mine(8) != TooLate {
		t.Errorf("after the end %+v run %d, and instance 8 at %d", b.End(), b.Run(), b.Mine(8))
	}
}

func TestHandIn(t *testing.T) {
	b := started(t)
	b.hand(1, 0, 0, 2, "ab", Applied)
	b.hand(1, 0, 0, 2, "ab", Applied) // its writer begins again
	if got := b.hand(1, 0, 1, 2, "cd", Applied); string(got) != "abcd" {
		t.Errorf("the first snapshot is %q", got)
	}
	b.hand(1, 0, 0, 2, "ab", Copied)
	b.say(0, 1, 1, Sent{}, Applied)
	if b.Complete(0) {
		t.Error("complete without the last snapshot")
	}
	if got := b.hand(1, 1, 0, 1, "", Applied); got == nil || len(got) != 0 {
		t.Errorf("the second snapshot is %v, want an empty one", got)
	}
	b.hand(1, 2, 0, 1, "after the last", Copied)
	if a, _ := b.Agent(0); !b.Complete(0) || !a.All || a.Snapshots != 2 || !slices.Equal(b.Incomplete(2), []int{1}) {
		t.Errorf("agent 0 is %+v, incomplete %v", a, b.Incomplete(2))
	}
	if unsent := b.Unsent(2); !slices.Equal(unsent, []int{1}) {
		t.Errorf("unsent %v", unsent)
	}
}

// An agent's run is incomplete after a gap, but later records count.
func TestGap(t *testing.T) {
	b := started(t)
	b.say(0, 1, 1, Sent{}, Applied)
	b.hand(1, 0, 0, 3, "ab", Applied)
	b.sequences[1]++
	if got := b.hand(1, 0, 2, 3, "ef", Outdated); got != nil {
		t.Errorf("a snapshot with a hole: %q", got)
	}
	b.hand(1, 0, 0, 1, "all of it", Applied)
	b.hand(1, 1, 0, 1, "last", Applied)
	if a, _ := b.Agent(0); a.Gaps != 1 || !a.All || b.Complete(0) {
		t.Errorf("agent 0 is %+v, complete %t", a, b.Complete(0))
	}
	b.sequences[chief] += 2
	b.say(Coordinator, chief, 1, Stop{}, Applied)
	if b.CoordinatorGaps() != 1 {
		t.Errorf("%d gaps of the coordinator", b.CoordinatorGaps())
	}
	b.say(Coordinator, chief, 2, Plan{}, Applied)
	if a, _ := b.Agent(0); a.Gaps != 0 || b.CoordinatorGaps() != 0 {
		t.Error("a gap stays after its run")
	}
}

func TestRefusedRecordsAreCounted(t *testing.T) {
	b := started(t)
	body := func(r Record) []byte { return seal(t, testKey, r) }
	wrong := Record{Kind: KindReady, Run: 1, Agent: 0, Instance: 1, Sequence: 9, Pieces: 1, Body: []byte("no JSON")}
	other := Record{
		Kind: KindHello, Agent: 0, Instance: 9, Sequence: 1, Pieces: 1, Body: []byte(`{"index": 1, "of": 2, "instance": 9}`),
	}
	for i, c := range []struct {
		sealed []byte
		want   error
	}{{seal(t, nil, piece()), ErrUnsealed}, {body(wrong), ErrMalformed}, {body(other), ErrMalformed}} {
		change, err := b.Apply(Entry{Offset: b.Next(), Record: c.sealed})
		if !errors.Is(err, c.want) || change.Effect != Refused {
			t.Errorf("record %d: %+v, %v", i, change, err)
		}
	}
	if b.Count(Refused) != 3 || b.Count(Applied) != 6 || b.Mine(9) != Unheard {
		t.Errorf("%d refused, %d applied", b.Count(Refused), b.Count(Applied))
	}
	if c, err := b.Apply(Entry{Offset: 0}); err != nil || c.Effect != Copied || b.Next() != 9 {
		t.Errorf("an entry that was read before: %+v, %v", c, err)
	}
}
