package campaign

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/bench"
)

type maker struct {
	out string
	// next returns how the next run ends; "" is valid.
	next    func() string
	noFiles bool
	made    []string
}

const (
	killed      = "killed"
	killedLater = "killed later" // after the run was saved, before the campaign was
	lost        = "lost"         // an agent died, and the others ended early
	late        = "lost late"    // an agent died after its load
	left        = "left"         // an agent was interrupted, and handed in
)

var (
	errKilled = errors.New("killed")
	errTopic  = errors.New("the topic was not created")
)

func (m *maker) Make(ctx context.Context, s scenario.Scenario, began func(string)) (*bench.Outcome, error) {
	end := result.Valid
	if m.next != nil {
		end = m.next()
	}
	if end == result.Failed {
		return nil, errTopic
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	run := result.Run{Run: result.Info{Name: s.Name, FinishedAt: time.Now(), Interrupted: end == result.Interrupted}}
	run.Verdict.Status = result.Valid
	switch end {
	case result.Invalid:
		run.Verdict = result.Verdict{Status: result.Invalid, Reasons: []string{"it was told to be"}}
	case lost, late, left:
		run.Run.Interrupted, run.Verdict.Status = end != late, result.Invalid
		run.Agents = []result.Agent{{HandedIn: true, Reasons: []string{"its clock is off"}},
			{Index: 1, HandedIn: end == left, Interrupted: end == left, Reasons: []string{result.EndedEarly}}}
	}
	dir, err := m.save(s.Name, run, began, end == killed)
	if err != nil {
		return nil, err
	}
	if end != result.Interrupted {
		m.made = append(m.made, s.Name)
	}
	if end == killedLater {
		panic(errKilled)
	}
	return &bench.Outcome{Dir: dir, Run: run}, nil
}

func (m *maker) save(name string, run result.Run, began func(string), dies bool) (dir string, err error) {
	if m.noFiles {
		dir = filepath.Join(m.out, name)
		began(dir)
		return dir, nil
	}
	w, err := result.Create(m.out, name, time.Now())
	if err != nil {
		return "", err
	}
	began(w.Dir())
	if dies {
		panic(errKilled)
	}
	return w.Dir(), w.Finish(run)
}

// carryOut survives a "kill" of the tool. It then closes only what the kernel would close.
func carryOut(t interface{ Fatal(...any) }, j *Journal, m Maker) (err error) {
	defer func() {
		if recover() != nil {
			err = errKilled
		}
		if err := j.writer.Close(); err != nil {
			t.Fatal(err)
		}
	}()
	plan, err := Saved(savedCampaign(t, j.Dir()))
	if err != nil {
		t.Fatal(err)
	}
	return Run(context.Background(), j, Config{
		Maker: m, Scenarios: plan.Scenarios(),
		Began: func(int) {}, Ended: func(int, *bench.Outcome) error { return nil },
	})
}

func savedCampaign(t interface{ Fatal(...any) }, dir string) *result.Campaign {
	c, err := result.ReadCampaign(dir)
	if err != nil {
		t.Fatal(err)
	}
	return &c.Campaign
}

func create(t interface{ Fatal(...any) }, out string, suites ...scenario.Suite) *Journal {
	c, err := mustPlan(t, PlanOptions{}, suites...).Campaign(result.Tool{Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	j, err := Create(out, c)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func resume(t interface{ Fatal(...any) }, dir string) *Journal {
	j, err := Resume(dir)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func TestResumedCampaignMakesEveryRunOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		out, err := os.MkdirTemp("", "campaign-")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(out)
		ends := rapid.SliceOfN(rapid.SampledFrom([]string{
			result.Valid, result.Valid, result.Invalid, result.Interrupted, result.Failed, killed, killedLater, lost,
		}), 0, 12).Draw(t, "ends")
		m := &maker{out: out, next: inTurn(ends)}
		suite := suiteOf("s", rapid.IntRange(1, 3).Draw(t, "repeat"), "a", "b", "c")
		j := create(t, out, suite)
		want := mustPlan(t, PlanOptions{}, suite)
		for tries := 0; !savedCampaign(t, j.Dir()).Finished(); tries++ {
			if tries > 0 {
				j = resume(t, j.Dir())
			}
			if tries > 20 {
				t.Fatalf("still not finished: %+v", savedCampaign(t, j.Dir()).Runs)
			}
			err := carryOut(t, j, m)
			if err != nil && !errors.Is(err, errTopic) && !errors.Is(err, errKilled) && !errors.Is(err, ErrAgentLost) {
				t.Fatal(err)
			}
		}
		var names []string
		for _, run := range want.Runs {
			names = append(names, want.Cells[run.Cell].Name)
		}
		if !slices.Equal(m.made, names) {
			t.Fatalf("made %v, want %v", m.made, names)
		}
		recorded, err := result.ReadCampaign(j.Dir())
		if err != nil {
			t.Fatal(err)
		}
		if len(recorded.Notes) > 0 || recorded.Campaign.Made() != len(names) {
			t.Fatalf("%d runs, notes %v", recorded.Campaign.Made(), recorded.Notes)
		}
		for i, run := range recorded.Runs {
			if run.Run.Run.Name != names[i] || run.Run.Verdict.Status != recorded.Campaign.Runs[i].Status {
				t.Fatalf("run %d is %s %s, and the campaign says %+v", i, run.Run.Run.Name, run.Run.Verdict.Status, recorded.Campaign.Runs[i])
			}
		}
	})
}

// An invalid run does not end a campaign, unless an agent is lost. A run that cannot be started
// does end it.
func TestHowACampaignEnds(t *testing.T) {
	for name, c := range map[string]struct {
		ends  []string
		want  []string
		err   error
		count int
	}{
		"all valid":     {[]string{result.Valid, result.Valid, result.Valid}, []string{result.Valid, result.Valid, result.Valid}, nil, 3},
		"one invalid":   {[]string{result.Valid, result.Invalid, result.Valid}, []string{result.Valid, result.Invalid, result.Valid}, nil, 3},
		"one failed":    {[]string{result.Valid, result.Failed}, []string{result.Valid, result.Failed, ""}, errTopic, 1},
		"one interrupt": {[]string{result.Valid, result.Interrupted}, []string{result.Valid, result.Interrupted, ""}, nil, 1},
		"killed":        {[]string{result.Valid, killed}, []string{result.Valid, "", ""}, errKilled, 1},
		"a lost agent":  {[]string{result.Valid, lost}, []string{result.Valid, result.Invalid, ""}, ErrAgentLost, 2},
		"a late loss":   {[]string{result.Valid, late}, []string{result.Valid, result.Invalid, ""}, ErrAgentLost, 2},
		"an agent left": {[]string{left}, []string{result.Invalid, "", ""}, ErrAgentLost, 1},
		"a last loss":   {[]string{result.Valid, result.Valid, lost}, []string{result.Valid, result.Valid, result.Invalid}, nil, 3},
	} {
		t.Run(name, func(t *testing.T) {
			out := t.TempDir()
			j := create(t, out, suiteOf("s", 1, "a", "b", "c"))
			next := 0
			err := carryOut(t, j, &maker{out: out, next: func() string { next++; return c.ends[next-1] }})
			if !errors.Is(err, c.err) {
				t.Errorf("error %v, want %v", err, c.err)
			}
			saved := savedCampaign(t, j.Dir())
			var statuses []string
			for _, run := range saved.Runs {
				named := run.Error == "an agent was lost: agent 1: "+result.EndedEarly
				if named != (run.Status == result.Invalid && name != "one invalid") {
					t.Errorf("a run is %+v", run)
				}
				statuses = append(statuses, run.Status)
			}
			if !slices.Equal(statuses, c.want) || saved.Made() != c.count {
				t.Errorf("statuses %q, %d made; want %q, %d", statuses, saved.Made(), c.want, c.count)
			}
			if saved.Finished() != (c.count == 3) {
				t.Errorf("finished: %v", saved.Finished())
			}
		})
	}
}

// inTurn returns these ends of runs, and then valid ones.
func inTurn(ends []string) func() string {
	return func() string {
		if len(ends) == 0 {
			return result.Valid
		}
		end := ends[0]
		ends = ends[1:]
		return end
	}
}

// Extend plans another run for an invalid one, which stays in the journal. No valid run is made
// again.
func TestExtend(t *testing.T) {
	out := t.TempDir()
	j := create(t, out, suiteOf("s", 1, "a", "b", "c"))
	ends := []string{result.Valid, result.Invalid, result.Interrupted}
	m := &maker{out: out, next: inTurn(ends)}
	if err := carryOut(t, j, m); err != nil {
		t.Fatal(err)
	}
	former := savedCampaign(t, j.Dir()).Runs[:2]
	extend := func() *Journal {
		j := resume(t, j.Dir())
		if err := j.Extend(2); err != nil {
			t.Fatal(err)
		}
		return j
	}
	again := extend()
	if saved := savedCampaign(t, j.Dir()); saved.Finished() || !slices.Equal(again.Pending(), []int{2, 3, 4, 5, 6}) {
		t.Errorf("finished: %v, %v is pending", saved.Finished(), again.Pending())
	}
	m.made = nil
	if err := carryOut(t, again, m); err != nil {
		t.Fatal(err)
	}
	saved := savedCampaign(t, j.Dir())
	if want := []string{"c", "a", "b", "c", "b"}; !slices.Equal(m.made, want) || !saved.Finished() {
		t.Errorf("made %v, want %v; finished: %v", m.made, want, saved.Finished())
	}
	if !slices.Equal(saved.Runs[:2], former) || saved.Campaign.Repeat != 3 {
		t.Errorf("the runs were %+v and are %+v, at most %d of a cell", former, saved.Runs[:2], saved.Campaign.Repeat)
	}
	whole := extend()
	if !savedCampaign(t, j.Dir()).Finished() || len(whole.Pending()) > 0 {
		t.Errorf("nothing is missing, and %v is pending", whole.Pending())
	}
	if err := whole.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestAbandonedRun(t *testing.T) {
	out := t.TempDir()
	j := create(t, out, suiteOf("s", 2, "a"))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := j.Make(ctx, &maker{out: out}, 0, scenario.Defaults())
	if run := j.Campaign().Runs[0]; !errors.Is(err, context.Canceled) || run.Status != "" || run.Error != "" {
		t.Errorf("error %v, and the run is %+v", err, run)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(j.Dir()); err == nil {
		t.Error("a campaign without a run was left behind")
	}
}

func TestOneTool(t *testing.T) {
	j := create(t, t.TempDir(), suiteOf("s", 2, "a"))
	if _, err := Resume(j.Dir()); !errors.Is(err, result.ErrCampaignBusy) {
		t.Errorf("a second one: %v", err)
	}
	if err := j.Began(0, filepath.Join(filepath.Dir(j.Dir()), "run")); err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if err := resume(t, j.Dir()).Close(); err != nil {
		t.Error(err)
	}
}
