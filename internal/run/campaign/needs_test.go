package campaign

import (
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/plan/unit"
)

// plain sends 100 records of 1 kB per second for 10 s of warm-up and 20 s of measured window, on 3
// replicas.
func plain(name string) scenario.Suite {
	s := suiteOf(name, 1, name)
	one := &s.Cells[0].Scenario
	one.Load.Rate = unit.Rate{Records: 100, Per: time.Second}
	one.Load.Record.Size = scenario.FixedSize(1000)
	one.Phases = scenario.Phases{
		Warmup: unit.Duration(10 * time.Second), Measure: unit.Duration(20 * time.Second), Drain: unit.Duration(5 * time.Second),
	}
	one.Topic.Replication = 3
	return s
}

func changed(s scenario.Suite, change func(*scenario.Scenario)) scenario.Suite {
	change(&s.Cells[0].Scenario)
	return s
}

func TestNeeds(t *testing.T) {
	existing := changed(plain("existing"), func(s *scenario.Scenario) { s.Topic.Existing = "orders" })
	closed := changed(plain("closed"), func(s *scenario.Scenario) { s.Load.Rate = unit.MaxRate })
	bounded := changed(plain("bounded"), func(s *scenario.Scenario) { s.Load.Rate, s.Load.Volume = unit.MaxRate, 5*unit.MB })
	larger := changed(plain("larger"), func(s *scenario.Scenario) { s.Cluster.Brokers = 5 })
	const run = 3000 * 1000
	for name, c := range map[string]struct {
		suites []scenario.Suite
		repeat int
		keep   bool
		want   Needs
	}{
		"one": {[]scenario.Suite{plain("a")}, 1, false, Needs{
			Runs: 1, Least: 30 * time.Second, Most: 35 * time.Second, Records: 3000, Bytes: run, Topics: 1, DiskBytes: 3 * run, Clusters: 1,
		}},
		// Kafka keeps the data of a deleted topic for a minute, so the data of two earlier runs exists too.
		"many": {[]scenario.Suite{plain("a")}, 10, false, Needs{
			Runs: 10, Least: 300 * time.Second, Most: 350 * time.Second, Records: 30_000, Bytes: 10 * run, Topics: 10, DiskBytes: 9 * run, Clusters: 1,
		}},
		"many that are kept": {[]scenario.Suite{plain("a")}, 10, true, Needs{
			Runs: 10, Least: 300 * time.Second, Most: 350 * time.Second, Records: 30_000, Bytes: 10 * run, Topics: 10, DiskBytes: 30 * run, Clusters: 1,
		}},
		"an existing topic grows": {[]scenario.Suite{existing}, 10, false, Needs{
			Runs: 10, Least: 300 * time.Second, Most: 350 * time.Second, Records: 30_000, Bytes: 10 * run, DiskBytes: 10 * run, OneReplica: true, Clusters: 1,
		}},
		"a closed loop": {[]scenario.Suite{plain("a"), closed}, 1, false, Needs{
			Runs: 2, Least: 60 * time.Second, Most: 70 * time.Second, Records: 3000, Bytes: run, Unknown: 1, Topics: 2, DiskBytes: 3 * run, Clusters: 1,
		}},
		"a closed loop with a volume": {[]scenario.Suite{plain("a"), bounded}, 1, false, Needs{
			Runs: 2, Least: 40 * time.Second, Most: 70 * time.Second, Records: 8000, Bytes: run + 5_000_000, Warmups: 1, Topics: 2, DiskBytes: 3*run + 15_000_000, Clusters: 1,
		}},
		"two clusters in turns": {[]scenario.Suite{plain("a"), larger}, 2, false, Needs{
			Runs: 4, Least: 120 * time.Second, Most: 140 * time.Second, Records: 12_000, Bytes: 4 * run, Topics: 4, DiskBytes: 9 * run, Clusters: 4,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			p := mustPlan(t, PlanOptions{Repeat: c.repeat}, c.suites...)
			if got := p.Needs(p.Runs, c.keep); got != c.want {
				t.Errorf("needs\n%+v, want\n%+v", got, c.want)
			}
		})
	}
}

// A search, too, stores what its cluster says, and not what the scenario says of a new topic.
func TestReplicasOfAnExistingTopic(t *testing.T) {
	suite := changed(plain("existing"), func(s *scenario.Scenario) { s.Topic.Existing, s.Load.MaxRate = "orders", s.Load.Rate })
	p := mustPlan(t, PlanOptions{}, suite)
	one := p.Needs(p.Runs, false).DiskBytes
	search := SearchConfig{Scenario: suite.Cells[0].Scenario, Probe: time.Second, Confirm: time.Second}
	oneOfSearch, _ := search.DiskBytes(false)
	p.Replicas = map[string]int{"orders": 2}
	search.Replicas = p.Replicas
	twoOfSearch, _ := search.DiskBytes(false)
	if two := p.Needs(p.Runs, false); two.DiskBytes != 2*one || two.OneReplica || one == 0 || twoOfSearch != 2*oneOfSearch || oneOfSearch == 0 {
		t.Errorf("one replica has %d bytes, and two have %+v; of a search %d and %d", one, two, oneOfSearch, twoOfSearch)
	}
}

func TestForecast(t *testing.T) {
	longer := changed(plain("b"), func(s *scenario.Scenario) { s.Phases.Measure = unit.Duration(50 * time.Second) })
	p := mustPlan(t, PlanOptions{Repeat: 3}, plain("a"), longer) // a b a b a b
	f := NewForecast(p)
	wantLeft := func(from int, want time.Duration) {
		t.Helper()
		if got := f.Left(p.Runs[from:]); got != want {
			t.Errorf("from run %d on it takes %v, want %v", from+1, got, want)
		}
	}
	wantLeft(0, 3*(30+60)*time.Second+6*firstGuess)
	f.Took(0, 40*time.Second) // 10 s beyond
	wantLeft(1, (2*40+3*70)*time.Second)
	f.Took(1, 62*time.Second)
	wantLeft(2, 2*(40+62)*time.Second)
	f.Took(0, 30*time.Second) // mean of 35 s
	wantLeft(3, (35+2*62)*time.Second)
	wantLeft(6, 0)
}

// Presets have a quick form if they take longer than two minutes. No quick form takes longer.
func TestPresetsTakeTwoMinutes(t *testing.T) {
	const most = 2 * time.Minute
	takes := func(name string, quick bool) (time.Duration, bool) {
		suite, err := scenario.ReadSuite(name, scenario.Options{Quick: quick})
		if err != nil {
			t.Fatal(err)
		}
		p, err := NewPlan([]scenario.Suite{suite}, PlanOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return p.Takes(p.Runs), suite.HasQuick
	}
	for _, name := range scenario.Names() {
		whole, has := takes(name, false)
		if !has && whole > most {
			t.Errorf("%s takes %v and has no quick form", name, whole)
		}
		if !has {
			continue
		}
		if quick, _ := takes(name, true); quick > most || quick > whole {
			t.Errorf("the quick form of %s takes %v of %v", name, quick, whole)
		}
	}
}

func TestGuess(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"load: {rate: 1k/s}": 33 * time.Second,
		"load: {rate: max, volume: 40MB, record: {size: 100B}}":                                                                     4 * time.Second,
		"load: {producers: 0, record: {size: 100B}}\ntopic: {fill: 240MB}":                                                          8 * time.Second,
		"load: {producers: 0, record: {size: 100B}}\ntopic: {fill: 240MB}\nconsume: {cpu: 0.5}":                                     10 * time.Second,
		"load: {rate: 10k/s}\nconsume: {work: 1ms, parallel: partition, consumers: 4}\ntopic: {partitions: 5}\nphases: {drain: 1m}": 66 * time.Second,
		"load: {rate: 10k/s}\nconsume: {work: 1ms}\nphases: {drain: 1s}":                                                            34 * time.Second,
	} {
		s, err := scenario.Parse("s", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if got := guess(s).Round(time.Second); got != want {
			t.Errorf("%q takes %v, want %v", text, got, want)
		}
	}
}
