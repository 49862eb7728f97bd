package control

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// world is a log whose processes read and write late, write twice and do not know that they were
// replaced. It decides by its own rules which instances are valid, and compares State with them.
type world struct {
	t    *rapid.T
	rand *rand.Rand // uniform, unlike rapid's numbers
	log  []Entry
	all  *State // folds every entry
	only *State // folds no record of a zombie

	valid   map[int]uint64 // by index
	claimed map[uint64]bool
	begun   bool
	worked  map[string]uint64
	procs   []*proc
	started uint64 // processes

	snapshots int
}

type proc struct {
	agent    int
	instance uint64
	sequence uint64
	view     *State
	queue    [][]byte // sealed, not in the log yet
	records  []Record // of the queue
	done     int      // last run that it worked in
}

const indexes = 3

func (w *world) start(agent int) {
	w.started++
	p := &proc{agent: agent, instance: w.started, view: NewState(testKey, topicID)}
	w.procs = append(w.procs, p)
	if agent != Coordinator {
		p.say(w, 0, Hello{Index: agent, Of: indexes, Instance: p.instance})
	}
}

func (p *proc) say(w *world, run int, body Body) {
	text, err := json.Marshal(body)
	if err != nil {
		w.t.Fatal(err)
	}
	p.write(w, Record{Kind: body.Kind(), Run: run, Pieces: 1, Body: text})
}

func (p *proc) write(w *world, r Record) {
	p.sequence++
	r.Agent, r.Instance, r.Sequence = p.agent, p.instance, p.sequence
	sealed, err := Seal(testKey, topicID, r)
	if err != nil {
		w.t.Fatal(err)
	}
	p.queue, p.records = append(p.queue, sealed), append(p.records, r)
}

func (p *proc) read(w *world, n int) {
	from := p.view.Next()
	for _, e := range w.log[max(0, from-1):min(int64(len(w.log)), from+int64(n))] {
		if _, err := p.view.Apply(e); err != nil {
			w.t.Fatal(err)
		}
	}
	if p.view.Next() == int64(len(w.log)) && !reflect.DeepEqual(told(p.view), told(w.all)) {
		w.t.Fatalf("two readers of %d entries disagree: %+v and %+v", len(w.log), told(p.view), told(w.all))
	}
}

func (p *proc) act(w *world) {
	v := p.view
	switch {
	case p.agent == Coordinator && (v.Plan() == nil || v.Start() != nil):
		if len(v.Incomplete(indexes)) == 0 || v.Plan() == nil || w.rand.IntN(20) == 0 {
			p.say(w, v.Run()+1, Plan{})
		}
	case p.agent == Coordinator && len(v.Unready(indexes)) == 0:
		p.say(w, v.Run(), Start{Instances: v.Instances(indexes), ClocksNs: make([]int64, len(v.Instances(indexes))), Owners: []int{2, 0, 1}})
	case p.agent == Coordinator:
	case v.Mine(p.instance) > Valid: // it lost, and leaves
		w.procs = slices.DeleteFunc(w.procs, func(other *proc) bool { return other == p })
	case v.Mine(p.instance) == Unheard || v.Plan() == nil:
	case v.Start() == nil:
		p.say(w, v.Run(), Ready{})
	case p.done < v.Run():
		p.done = v.Run()
		place := fmt.Sprint(v.Run(), p.agent)
		if other := w.worked[place]; other != 0 {
			w.t.Fatalf("the instances %d and %d both work as agent %d of run %d", other, p.instance, p.agent, v.Run())
		}
		w.worked[place] = p.instance
		p.say(w, v.Run(), Sent{})
		p.handIn(w)
	}
}

func (p *proc) handIn(w *world) {
	for number := range 2 {
		text := []byte(fmt.Sprintf("snapshot %d of instance %d in run %d", number, p.instance, p.done))
		pieces := slices.Collect(slices.Chunk(text, 8+w.rand.IntN(32)))
		for i, piece := range pieces {
			p.write(w, Record{
				Kind: KindSnapshot, Run: p.done, Number: number, Piece: i, Pieces: len(pieces), Last: number == 1, Body: piece,
			})
		}
	}
}

func (w *world) land(p *proc, again bool) {
	sealed, r := p.queue[0], p.records[0]
	if !again {
		p.queue, p.records = p.queue[1:], p.records[1:]
	}
	e := Entry{Offset: int64(len(w.log)), Record: sealed}
	w.log = append(w.log, e)
	c, err := w.all.Apply(e)
	if err != nil {
		w.t.Fatal(err)
	}
	if p.agent == Coordinator {
		w.begun = w.begun && (r.Kind != KindPlan || c.Effect != Applied) ||
			r.Kind == KindStart && c.Effect == Applied
	}
	if r.Kind == KindHello && !w.claimed[p.instance] {
		w.claimed[p.instance] = true
		if !w.begun {
			w.valid[p.agent] = p.instance
		}
	} else if p.agent != Coordinator && w.valid[p.agent] != p.instance {
		if c.Effect != Zombie {
			w.t.Fatalf("a zombie's record had the effect %d", c.Effect)
		}
		w.check()
		return
	}
	_, _ = w.only.Apply(e)
	if c.Snapshot != nil {
		w.snapshots++
		want := fmt.Sprintf("snapshot %d of instance %d in run %d", r.Number, p.instance, r.Run)
		if string(c.Snapshot) != want {
			w.t.Fatalf("the snapshot is %q, want %q", c.Snapshot, want)
		}
	}
	w.check()
}

func (w *world) check() {
	if !reflect.DeepEqual(told(w.all), told(w.only)) {
		w.t.Fatalf("zombies changed the state: %+v, want %+v", told(w.all), told(w.only))
	}
	instances := w.all.Instances(indexes)
	for i, instance := range instances {
		if instance != w.valid[i] {
			w.t.Fatalf("instance %d is agent %d, want %d", instance, i, w.valid[i])
		}
	}
	if s := w.all.Start(); s != nil && !slices.Equal(s.Instances, instances) {
		w.t.Fatalf("a run of %v has the instances %v", s.Instances, instances)
	}
}

// told returns a state without the counts of effects.
func told(s *State) State {
	c := *s
	c.next, c.counts, c.agents = 0, [effects]int64{}, maps.Clone(s.agents)
	return c
}

// All readers of a prefix agree, no two instances of an agent work in one run, zombies change
// nothing, and snapshots arrive as they were handed in.
func TestOneInstanceWorks(t *testing.T) {
	worked, snapshots := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		w := &world{
			t: t, rand: rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0)),
			all: NewState(testKey, topicID), only: NewState(testKey, topicID),
			valid: make(map[int]uint64), claimed: make(map[uint64]bool), worked: make(map[string]uint64),
		}
		w.start(Coordinator)
		for i := range indexes {
			w.start(i)
		}
		for range rapid.IntRange(300, 600).Draw(t, "steps") {
			p := w.procs[w.rand.IntN(len(w.procs))]
			switch what := w.rand.IntN(100); {
			case what == 0:
				w.start(w.rand.IntN(indexes))
			case len(p.queue) > 0 && what < 60:
				w.land(p, what < 3)
			case what < 60:
				p.act(w)
			default:
				p.read(w, what)
			}
		}
		worked, snapshots = worked+len(w.worked), snapshots+w.snapshots
	})
	if t.Log(worked, "agents worked, and handed in", snapshots, "snapshots"); worked < 100 || snapshots < 100 {
		t.Error("the worlds are too quiet")
	}
}
