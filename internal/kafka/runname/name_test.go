package runname_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"kafkabench.example/kafka-bench/internal/kafka/runname"
)

var noon = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

func TestName(t *testing.T) {
	n := runname.New("overload", "k3x7qa", noon.Add(999*time.Millisecond), 90*time.Second)
	if got, want := n.String(), "kafka-bench-overload-20261129T120000Z-20261129T120130Z-k3x7qa"; got != want {
		t.Errorf("the name is %s, want %s", got, want)
	}
	n.Kept = true
	if got, want := n.String(), "kafka-bench-overload-20261129T120000Z-20261129T120130Z-k3x7qa-kept"; got != want {
		t.Errorf("the name is %s, want %s", got, want)
	}
}

func TestParseReadsEveryName(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := runname.New(
			rapid.StringMatching(`[a-zA-Z0-9][a-zA-Z0-9._-]{0,149}`).Draw(t, "of"), rapid.StringMatching(`[a-z0-9]{6,8}`).Draw(t, "id"),
			time.Unix(rapid.Int64Range(0, 1<<35).Draw(t, "start"), 0), time.Duration(rapid.Int64Range(0, 1<<55).Draw(t, "lasts")))
		n.Kept = rapid.Bool().Draw(t, "kept")
		suffix := rapid.SampledFrom([]string{"", "-1", "-128", "-markers", "-dead", "-retry", "-tracker", "-2-tracker"}).Draw(t, "suffix")
		name := n.String() + suffix
		if got, ok := runname.Parse(name); !ok || !reflect.DeepEqual(got, n) {
			t.Errorf("%s is read as %+v, %v; want %+v", name, got, ok, n)
		}
		if len(name) > 230 {
			t.Errorf("%s has %d characters", name, len(name))
		}
	})
}

func TestParseRefusesLookalikes(t *testing.T) {
	const name = "kafka-bench-overload-20261129T120000Z-20261129T120130Z-k3x7qa"
	if _, ok := runname.Parse(name); !ok {
		t.Fatalf("%s is not read", name)
	}
	for _, other := range []string{
		"", "orders", "my-" + name, name + "-backup", name + "-markers-old", name + "-", name + "-kept-kept", name + "\n",
		"kafka-bench-overload-k3x7qa",                                           // of versions without the times
		"kafka-bench-control-monday",                                            // a session that a user named
		"kafka-bench-20261129T120000Z-20261129T120130Z-k3x7qa",                  // of nothing
		"kafka-bench-x-20261129T120000Z-k3x7qa",                                 // no end
		"kafka-bench-x-20261129T120130Z-20261129T120000Z-k3x7qa",                // ends before it begins
		"kafka-bench-x-20261129T120000Z-20261399T120130Z-k3x7qa",                // no date
		"kafka-bench-x-20261129T120000Z-20261129T120130Z-K3X7QA",                // no ID
		"kafka-bench-x-20261129T120000Z-20261129T120130Z-abc",                   // no ID
		"kafka-bench-x y-20261129T120000Z-20261129T120130Z-k3x7qa",              // no topic of Kafka
		"kafka-bench-x-20261129T120000Z-20261129T120130Z-k3x7qa-kept-markers-1", // wrong order
		"Kafka-bench-x-20261129T120000Z-20261129T120130Z-k3x7qa",                // another prefix
		"kafka-bench-" + strings.Repeat("x", 151) + "-20261129T120000Z-20261129T120130Z-k3x7qa",
	} {
		if got, ok := runname.Parse(other); ok {
			t.Errorf("%q is read as %+v", other, got)
		}
	}
}

func TestFind(t *testing.T) {
	name := func(of, id string, ended time.Duration) string {
		return runname.New(of, id, noon.Add(-ended-time.Minute), time.Minute).String()
	}
	past, justOver, kept := name("past", "aaaaaa", 61*time.Minute), name("fresh", "bbbbbb", time.Hour), name("kept", "cccccc", 9*time.Hour)+"-kept"
	queue, read := name("queue", "dddddd", 9*time.Hour), name("read", "eeeeee", 9*time.Hour)
	running, session := name("soak", "ffffff", -time.Minute), name("control", "gggggggg", 9*time.Hour)
	c := runname.Cluster{
		Topics: []string{
			"orders", "kafka-bench", "kafka-bench-mine", read, queue, queue + "-markers", queue + "-dead", past, justOver, kept, running, session,
		},
		Groups: []runname.Group{
			{Name: past}, {Name: queue}, {Name: queue + "-tracker", Members: 1, Topics: []string{queue + "-markers"}},
			{Name: "app", Members: 2, Topics: []string{"orders", read}}, {Name: "idle", Topics: []string{past}},
			{Name: "kafka-bench-team", Members: 1}, {Name: running, Members: 3, Topics: []string{running}},
		},
	}
	type said struct {
		kind      runname.Kind
		name      string
		age       runname.Age
		usedBy    string
		removable bool
	}
	want := []said{
		{runname.Topics, session, runname.Past, "", true},
		{runname.Topics, justOver, runname.Running, "", false},
		{runname.Topics, kept, runname.Kept, "", false},
		{runname.Topics, "kafka-bench-mine", runname.Unknown, "", false},
		{runname.Topics, past, runname.Past, "", true},
		{runname.Topics, queue, runname.Past, queue + "-tracker", false},
		{runname.Topics, queue + "-dead", runname.Past, queue + "-tracker", false},
		{runname.Topics, queue + "-markers", runname.Past, queue + "-tracker", false},
		{runname.Topics, read, runname.Past, "app", false},
		{runname.Topics, running, runname.Running, running, false},
		{runname.Groups, past, runname.Past, "", true},
		{runname.Groups, queue, runname.Past, queue + "-tracker", false},
		{runname.Groups, queue + "-tracker", runname.Past, queue + "-tracker", false},
		{runname.Groups, running, runname.Running, running, false},
		{runname.Groups, "kafka-bench-team", runname.Unknown, "kafka-bench-team", false},
	}
	var got []said
	for _, l := range runname.Find(c, noon) {
		got = append(got, said{l.Kind, l.Name, l.Age, strings.Join(l.UsedBy, ","), l.Removable()})
	}
	if len(got) != len(want) {
		t.Fatalf("there are %d, want %d: %+v", len(got), len(want), got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%d is\n%+v, want\n%+v", i, got[i], want[i])
		}
	}
}
