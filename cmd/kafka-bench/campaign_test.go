package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kafkabench.example/kafka-bench/internal/result"
)

func onlyCampaign(t *testing.T, out string) *result.RecordedCampaign {
	t.Helper()
	listed, err := result.ListCampaigns(out)
	if err != nil || len(listed) != 1 {
		t.Fatalf("%s has the campaigns %+v, %v; want one", out, listed, err)
	}
	c, err := result.ReadCampaign(listed[0].Dir)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func wantCampaign(t *testing.T, got invoked, c *result.RecordedCampaign, cells ...string) {
	t.Helper()
	wantCells(t, c, cells...)
	for i, planned := range c.Campaign.Runs {
		if planned.Status != result.Valid {
			t.Errorf("run %d is %s: %+v", i, planned.Status, c.Runs[i].Run.Verdict)
		}
	}
	if got.code != exitValid || got.message() != "" {
		t.Errorf("exit code %d and %q", got.code, got.stderr)
	}
}

func wantCells(t *testing.T, c *result.RecordedCampaign, cells ...string) {
	t.Helper()
	var names []string
	for i, planned := range c.Campaign.Runs {
		names = append(names, c.Campaign.Cells[planned.Cell].Name)
		run := c.Runs[i]
		if run == nil || run.Run.Run.Name != names[i] || run.Run.Verdict.Status != planned.Status {
			t.Fatalf("run %d is planned as %+v, and recorded as %+v", i, planned, run)
		}
	}
	if !slices.Equal(names, cells) || !c.Campaign.Finished() {
		t.Errorf("the runs are %v, finished: %v; want %v", names, c.Campaign.Finished(), cells)
	}
}

func wantSaid(t *testing.T, said string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(said, text) {
			t.Errorf("nothing is said of %q in:\n%s", text, said)
		}
	}
}

const sweep = `
name: sweep
question: Does the order matter?
` + tiny + `
matrix: {load.acks: [0, 1]}
repeat: 2
`

func TestSweep(t *testing.T) {
	virtually(t, func(t *testing.T, l lab) {
		out := filepath.Join(t.TempDir(), "runs")
		got := l.invoke(t, "run", write(t, sweep), "--cluster", "embedded", "--out", out)
		c := onlyCampaign(t, out)
		wantCampaign(t, got, c, "sweep-0", "sweep-1", "sweep-0", "sweep-1")
		info := c.Campaign.Campaign
		if info.Name != "sweep" || info.Question != "Does the order matter?" || info.Order != "interleaved" || info.Repeat != 2 || info.Kind != result.KindRuns {
			t.Errorf("the campaign is %+v", info)
		}
		wantSaid(t, got.stderr, "run 3 of 4 · sweep-0 · round 2 of 2 · about ", "on the embedded broker", c.Dir)
		list := l.invoke(t, "list", "--out", out)
		wantSaid(t, list.stdout, "Latest campaigns:\n  "+c.Dir+"  finished  4 of 4 runs")
	})
}

func TestVariants(t *testing.T) {
	virtually(t, func(t *testing.T, l lab) {
		const family = `
name: family
` + tiny + `
variants:
  - name: plain
  - {name: heavy, load: {record: {size: 4KiB}}}
repeat: 2
`
		out := filepath.Join(t.TempDir(), "runs")
		got := l.invoke(t, "run", write(t, family), "--cluster", "embedded", "--out", out)
		c := onlyCampaign(t, out)
		wantCampaign(t, got, c, "family-plain", "family-heavy", "family-plain", "family-heavy")
		wantSaid(t, got.stderr, "run 4 of 4 · family-heavy · round 2 of 2 · about ")
		if axes := c.Campaign.Axes; len(axes) != 1 || axes[0].Path != "variant" || !slices.Equal(axes[0].Values, []string{"plain", "heavy"}) {
			t.Errorf("the axes are %+v", axes)
		}
		compared := l.invoke(t, "compare", c.Dir+":plain", c.Dir+":heavy")
		wantSaid(t, compared.stdout, "family-plain", "family-heavy", "load.record.size")
	})
}

func TestSeveralScenarios(t *testing.T) {
	virtually(t, func(t *testing.T, l lab) {
		one, two := write(t, "name: one"+tiny), write(t, "name: two"+tiny)
		out := filepath.Join(t.TempDir(), "runs")
		got := l.invoke(t, "run", one, two, "--cluster", "embedded", "--out", out)
		wantCampaign(t, got, onlyCampaign(t, out), "one", "two")
		wantSaid(t, got.stdout, "What it shows")
		wantSaid(t, got.stderr, "one and 1 more: 2 runs of 2 scenarios")
		if n := strings.Count(got.stdout, result.ScenarioFile); n != 2 {
			t.Errorf("%d screens, want one for each run:\n%s", n, got.stdout)
		}
		out = filepath.Join(t.TempDir(), "runs")
		got = l.invoke(t, "run", one, two, "--cluster", "embedded", "--out", out, "--repeat", "2", "--order", "blocked")
		wantCampaign(t, got, onlyCampaign(t, out), "one", "one", "two", "two")
	})
}

func TestDryRun(t *testing.T) {
	out := filepath.Join(t.TempDir(), "runs")
	for name, c := range map[string]struct {
		args []string
		want []string
	}{
		"a sweep": {[]string{write(t, sweep), "--cluster", "embedded"}, []string{
			"sweep: 4 runs\nDoes the order matter?\n", "load.acks=0", "interleaved: scenario 1 2 1 2\n",
			"1.6 s to 41.6 s", "4 new, one for each run, deleted after it\n", "the embedded broker is started and stopped\n", "in " + out,
		}},
		"the study": {[]string{"backpressure-study", "--cluster", "embedded"}, []string{
			"backpressure-study: 45 runs\nWhich controller keeps its bound", "5  38 s to 48 s  380,000  195 MB  backpressure-study-off ",
			"backpressure-study-latency-1s        variant=latency-1s\n", "interleaved: scenario 1 2 3 4 5 6 7 8 9 1 2 3 …\n",
			"28 min 30 s to 36 min", "records   17,100,000\n", "topics    45 new, one for each run, deleted after it\n",
		}},
		"two variants of it": {[]string{"backpressure-study", "--cluster", "embedded", "--set", "variants=[off, credit]", "--set", "repeat=1"}, []string{
			"backpressure-study: 2 runs\n", "backpressure-study-credit  variant=credit\n", "records   760,000\n", "topics    2 new",
		}},
		"what make bench runs": {[]string{"backpressure-short", "--quick", "--cluster", "kafka"}, []string{
			"backpressure-short-quick: 4 runs\n", "36 s to 52 s", "records   360,000\n",
		}},
		"with a warning of one variant": {[]string{"backpressure-baseline", "--cluster", "embedded"}, []string{
			"\nwarning: backpressure-baseline-credit-1s: backpressure.max_lag: give at least 11,550 records; it is 5,000. ",
		}},
		"with a warning": {[]string{write(t, tiny), "--cluster", "embedded", "--set", "phases.drain=0s"}, []string{"\nwarning: phases.drain: there is none"}},
		"one run on an existing topic": {[]string{write(t, tiny), "--brokers", "localhost:1", "--set", "topic.existing=orders", "--write-to", "orders"}, []string{
			"s: 1 run\n", "an existing one is used by 1 run\n", "the existing one at localhost:1; none is started\n",
		}},
		"a closed loop": {[]string{write(t, tiny), "--cluster", "kafka", "--set", "load.rate=max", "--keep-topics"}, []string{
			"records   not known (rate max)\n", "bytes     not known (rate max)\n", "disk      not known: ", "1 new, one for each run, kept\n", "an Apache Kafka is started and stopped\n",
		}},
		"a closed loop with an end": {[]string{"produce-only", "--cluster", "kafka"}, []string{
			"records   20,000,000 and the warm-up\n", "bytes     2.00 GB uncompressed and the warm-up\n",
			"disk      about 2.00 GB and the warm-up at a time for Kafka's logs, if nothing is compressed\n", "20,000,000 + warm-up",
			"window    ends after 20,000,000 records (load.volume), or after 1m (phases.measure), if that comes first\n",
		}},
		"a count in a preset": {[]string{"quick", "--cluster", "kafka", "--set", "load.rate=max", "--set", "load.records=500000"}, []string{
			"2 s to 1 h 12 s", "window    ends after 500,000 records (load.records), or after 1h (phases.measure), if that comes first\n",
		}},
		"one of several is a closed loop": {[]string{write(t, "name: a"+tiny), "produce-only", write(t, "name: b\nload: {rate: max}"), "--cluster", "kafka"}, []string{
			"records   20,000,080 and the warm-up of 1 run; of 1 run not known (rate max)\n",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			got := invokeIn(t, surroundings{offline: true}, append([]string{"run", "--dry-run", "--out", out}, c.args...)...)
			if got.code != exitValid || got.stderr != "" {
				t.Errorf("exit code %d: %s", got.code, got.stderr)
			}
			wantSaid(t, got.stdout, c.want...)
			wantNothing(t, out)
		})
	}
}

// If the cluster refuses a topic, the campaign ends, keeps its earlier runs, and can be resumed.
func TestRefusedCampaign(t *testing.T) {
	virtually(t, func(t *testing.T, l lab) {
		e := l.start(t)
		created, well := 0, false
		e.Fake().Fault(kfake.Fault{
			Keys: []kmsg.Key{kmsg.CreateTopics}, Err: kerr.PolicyViolation, Count: -1,
			When: func(kmsg.Request) bool { created++; return created > 1 && !well },
		})
		out := filepath.Join(t.TempDir(), "runs")
		got := l.invoke(t, "run", write(t, tiny), "--repeat", "3", "--brokers", e.Bootstrap()[0], "--out", out)
		c := onlyCampaign(t, out)
		resume := "1 of 3 runs are made, go on with: kafka-bench run --resume " + c.Dir + " --brokers " + e.Bootstrap()[0]
		if got.code != exitUnreachable || !strings.HasPrefix(got.message(), "scenario s: the topic ") || !strings.HasSuffix(got.message(), "; "+resume) {
			t.Errorf("exit code %d and\n%s\nwant the end\n%s", got.code, got.message(), resume)
		}
		if run := c.Campaign.Runs[1]; run.Status != result.Failed || !strings.Contains(run.Error, "POLICY_VIOLATION") || run.Dir != "" {
			t.Errorf("the run that was refused is %+v", run)
		}
		first := c.Campaign.Runs[0]
		well = true
		got = l.invoke(t, "run", "--resume", c.Dir, "--brokers", e.Bootstrap()[0])
		c = onlyCampaign(t, out)
		wantCampaign(t, got, c, "s", "s", "s")
		if c.Campaign.Runs[0] != first {
			t.Errorf("the first run was %+v and is %+v", first, c.Campaign.Runs[0])
		}
		if runs, err := result.List(out); err != nil || len(runs) != 3 {
			t.Errorf("there are %d runs, %v", len(runs), err)
		}
	})
}

func halfMade(t *testing.T, l lab, args ...string) *result.RecordedCampaign {
	t.Helper()
	out := filepath.Join(t.TempDir(), "runs")
	l.invoke(t, append([]string{"run", write(t, tiny), "--repeat", "2", "--out", out}, args...)...)
	c := onlyCampaign(t, out)
	unfinish(t, c)
	return onlyCampaign(t, out)
}

func unfinish(t *testing.T, c *result.RecordedCampaign) {
	t.Helper()
	w, saved, err := result.OpenCampaign(c.Dir)
	if err != nil {
		t.Fatal(err)
	}
	last := &saved.Runs[len(saved.Runs)-1]
	last.Dir, last.Status, saved.Campaign.FinishedAt = "", "", time.Time{}
	if err := errors.Join(w.Save(saved), w.Close()); err != nil {
		t.Fatal(err)
	}
}

func TestResumeElsewhere(t *testing.T) {
	virtually(t, func(t *testing.T, l lab) {
		elsewhere := newLab()
		one, other := l.start(t), elsewhere.start(t)
		c := halfMade(t, l, "--brokers", one.Bootstrap()[0])
		for name, now := range map[string]struct {
			lab  lab
			args []string
			on   string
		}{
			"another kind":    {newLab(), []string{"--cluster", "embedded"}, "the embedded broker"},
			"another cluster": {elsewhere, []string{"--brokers", other.Bootstrap()[0]}, "the existing cluster " + other.Info().ID},
		} {
			want := "the campaign was begun on the existing cluster " + one.Info().ID + ", and would go on with " + now.on +
				": its runs would not compare; give --brokers with the addresses of that cluster, or begin a new campaign"
			got := now.lab.invoke(t, append([]string{"run", "--resume", c.Dir}, now.args...)...)
			if got.code != exitBadInput || got.message() != want {
				t.Errorf("%s: exit code %d and\n%s, want\n%s", name, got.code, got.message(), want)
			}
			if saved := onlyCampaign(t, filepath.Dir(c.Dir)); !reflect.DeepEqual(saved.Campaign, c.Campaign) {
				t.Errorf("%s: the campaign was %+v and is %+v", name, c.Campaign, saved.Campaign)
			}
		}
		wantCampaign(t, l.invoke(t, "run", "--resume", c.Dir, "--brokers", one.Bootstrap()[0]), onlyCampaign(t, filepath.Dir(c.Dir)), "s", "s")
	})
}

func TestResumeOfAnotherMethod(t *testing.T) {
	virtually(t, func(t *testing.T, l lab) {
		brokers := l.start(t).Bootstrap()[0]
		c := halfMade(t, l, "--brokers", brokers)
		ours := fmt.Sprintf(`"method_version": %d`, result.Method)
		for _, other := range []int{1, result.Method + 1} {
			theirs := fmt.Sprintf(`"method_version": %d`, other)
			edit(t, c, ours, theirs)
			got := l.invoke(t, "run", "--resume", c.Dir, "--brokers", brokers)
			want := fmt.Sprintf("%s: begun with method %d: begin a new campaign", c.Dir, other)
			if got.code != exitBadInput || got.message() != want {
				t.Errorf("exit code %d and\n%s, want\n%s", got.code, got.message(), want)
			}
			edit(t, c, theirs, ours)
		}
		wantCampaign(t, l.invoke(t, "run", "--resume", c.Dir, "--brokers", brokers), onlyCampaign(t, filepath.Dir(c.Dir)), "s", "s")
	})
}

func edit(t *testing.T, c *result.RecordedCampaign, old, text string) {
	t.Helper()
	path := filepath.Join(c.Runs[0].Dir, result.SummaryFile)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	after := strings.Replace(string(before), old, text, 1)
	if after == string(before) {
		t.Fatalf("%s does not say %s", path, old)
	}
	if err := os.WriteFile(path, []byte(after), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestResumeWithAnother(t *testing.T) {
	virtually(t, func(t *testing.T, l lab) {
		c := halfMade(t, l, "--cluster", "embedded")
		is := c.Runs[0].Run.Run
		edit(t, c, `"version": "`+is.Tool.Version+`"`, `"version": "v0.1"`)
		edit(t, c, `"version": "`+is.Driver.Version+`"`, `"version": "v0.2"`)
		got := l.invoke(t, "run", "--resume", c.Dir, "--cluster", "embedded")
		wantSaid(t, got.stderr, "warning: the campaign was begun with kafka-bench v0.1", "warning: the campaign was begun with the driver franz v0.2, and goes on with "+is.Driver.Version)
		wantCampaign(t, got, onlyCampaign(t, filepath.Dir(c.Dir)), "s", "s")
	})
}

func TestResumeFinished(t *testing.T) {
	virtually(t, func(t *testing.T, l lab) {
		c := halfMade(t, l, "--cluster", "embedded")
		l.invoke(t, "run", "--resume", c.Dir, "--cluster", "embedded")
		for status, code := range map[string]int{result.Valid: exitValid, result.Invalid: exitInvalid} {
			w, saved, err := result.OpenCampaign(c.Dir)
			if err != nil {
				t.Fatal(err)
			}
			saved.Runs[0].Status, saved.Runs[1].Status = result.Valid, status
			if err := errors.Join(w.Save(saved), w.Close()); err != nil {
				t.Fatal(err)
			}
			got := l.invoke(t, "run", "--resume", c.Dir)
			if got.code != code || got.message() != "" || !strings.HasSuffix(got.stderr, "is finished: 2 of 2 runs were made.\n") {
				t.Errorf("%s: exit code %d and %q, want %d", status, got.code, got.stdout+got.stderr, code)
			}
		}
	})
}

func TestCampaignThatNeverBegan(t *testing.T) {
	out := filepath.Join(t.TempDir(), "runs")
	got := invoke(t, "run", write(t, tiny), "--repeat", "3", "--brokers", deadAddress(t), "--out", out)
	if got.code != exitUnreachable || strings.Contains(got.stderr, "--resume") {
		t.Errorf("exit code %d and\n%s", got.code, got.stderr)
	}
	wantNothing(t, out)
}

func TestInterruptedCampaign(t *testing.T) {
	virtually(t, func(t *testing.T, l lab) {
		out := filepath.Join(t.TempDir(), "runs")
		got := l.interrupted(time.Second).invoke(t, "run", write(t, tiny), "--repeat", "2", "--cluster", "embedded", "--out", out, "--set", "phases.measure=3s")
		c := onlyCampaign(t, out)
		want := "interrupted; 0 of 2 runs are made, go on with: kafka-bench run --resume " + c.Dir + " --cluster embedded"
		if got.code != exitInterrupted || got.message() != want {
			t.Errorf("exit code %d and\n%s, want\n%s", got.code, got.message(), want)
		}
		if run := c.Campaign.Runs[0]; run.Status != result.Interrupted || c.Campaign.Runs[1].Dir != "" {
			t.Errorf("the runs are %+v", c.Campaign.Runs)
		}
		wantSaid(t, l.invoke(t, "list", "--out", out).stdout, "not finished  0 of 2 runs")
		wantSaid(t, l.invoke(t, "run", "--resume", c.Dir, "--dry-run", "--cluster", "embedded").stdout, "s: 2 runs\n")
		got = l.invoke(t, "run", "--resume", c.Dir, "--cluster", "embedded")
		wantCampaign(t, got, onlyCampaign(t, out), "s", "s")
	})
}

func TestResumeCommand(t *testing.T) {
	for want, flags := range map[string]engineFlags{
		"kafka-bench run --resume runs/c":                    {},
		"kafka-bench run --resume runs/c --cluster embedded": {cluster: "embedded", out: "elsewhere"},
		"kafka-bench run --resume runs/c --brokers a:1,b:2 --cluster-id I_-d --command-config 'my file'\\''s' --keep-topics": {
			driver: "x", brokers: []string{"a:1", "b:2"}, clusterID: "I_-d", access: "my file's", keepTopics: true,
		},
	} {
		if got := resumeCommand("runs/c", rig{flags: flags}); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	for page, want := range map[string]string{ownFolder: "--page", "my page": "'--page=my page'"} {
		if got := resumeCommand("runs/c", rig{page: page}); got != "kafka-bench run --resume runs/c "+want {
			t.Errorf("%q with a page", got)
		}
	}
	for want, watch := range map[string]pagesFlags{
		"--web": {web: anyFree}, "--web=127.0.0.1:8780": {web: "127.0.0.1:8780"},
		"--metrics :9464 --metrics-token-file token": {metrics: ":9464", tokenFile: "token"},
	} {
		if got := resumeCommand("runs/c", rig{watch: watch}); got != "kafka-bench run --resume runs/c "+want {
			t.Errorf("%q with what is watched", got)
		}
	}
	for want, agents := range map[string]fleetFlags{
		"--agents 3 --local-agents":                    {agents: 3, local: true, placement: "own", session: "gone"},
		"--agents 2 --placement any --key session.key": {agents: 2, placement: "any", key: "session.key"},
		"--senders 1 --receivers 2":                    {senders: 1, receivers: 2, placement: "own"},
	} {
		if got := resumeCommand("runs/c", rig{fleet: agents}); got != "kafka-bench run --resume runs/c "+want {
			t.Errorf("%q with agents", got)
		}
	}
}
