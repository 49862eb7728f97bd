package scenario

import (
	"strings"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/plan/unit"
)

const twoForms = `
load: {rate: 5k/s}
phases: {warmup: 5s, measure: 1m}
matrix: {load.acks: [1, all]}
repeat: 5
quick: {phases: {measure: 5s}, repeat: 1, matrix: {load.acks: null}, variants: [{name: a}, {name: b, load: {rate: 7k/s}}]}
`

func TestQuickIsLaidOver(t *testing.T) {
	whole, err := suiteOf(Options{}, twoForms)
	if err != nil {
		t.Fatal(err)
	}
	if !whole.HasQuick || whole.Repeat != 5 || len(whole.Cells) != 2 || strings.Contains(whole.Name, "quick") {
		t.Errorf("the whole form is %+v", whole)
	}
	short, err := suiteOf(Options{Quick: true}, twoForms)
	if err != nil {
		t.Fatal(err)
	}
	if !short.HasQuick || short.Repeat != 1 || len(short.Cells) != 2 || short.Cells[1].Name != short.Name+"-b" || !strings.HasSuffix(short.Name, quickSuffix) {
		t.Errorf("the quick form is %+v", short)
	}
	s := short.Cells[1].Scenario
	if s.Phases.Measure != unit.Duration(5*time.Second) || s.Phases.Warmup != unit.Duration(5*time.Second) || s.Load.Rate.String() != "7k/s" {
		t.Errorf("its second variant is %+v", s)
	}
}

func TestQuickIsLaidUnder(t *testing.T) {
	s, err := suiteOf(Options{Quick: true, Set: []string{"phases.measure=7s", "matrix=null", "variants=null", "name=mine"}}, twoForms, "quick: {phases: {measure: 6s, drain: 6s}}")
	if err != nil {
		t.Fatal(err)
	}
	p := s.Cells[0].Scenario.Phases
	if p != (Phases{unit.Duration(5 * time.Second), unit.Duration(7 * time.Second), unit.Duration(6 * time.Second)}) || s.Name != "mine"+quickSuffix {
		t.Errorf("%s has %+v", s.Name, p)
	}
	_, err = suiteOf(Options{Set: []string{"quick.phases.measure=9s"}}, twoForms)
	if want := "--set quick.phases.measure=9s: overrides apply to the quick form too; leave quick. out"; err == nil || err.Error() != want {
		t.Errorf("got %v\nwant %s", err, want)
	}
}

func TestWithoutAQuickForm(t *testing.T) {
	s, err := suiteOf(Options{Quick: true}, "name: mine\nload: {rate: 5k/s}")
	if err != nil || s.HasQuick || s.Name != "mine" {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestQuickMistakes(t *testing.T) {
	for _, c := range []struct {
		text  string
		quick bool
		want  string
	}{
		{"quick: 5s", false, `f.yaml:1:8: quick: it is the single value "5s", not a mapping; write what the quick form has otherwise, as in quick: {phases: {measure: 5s}}`},
		{"quick: {name: a}", false, "f.yaml:1:9: quick.name: it is the same for the quick form; set name itself"},
		{"quick: {load: {rte: 5k/s}}", false, "f.yaml:1:16: load.rte: unknown key; did you mean rate?"},
		{"quick: {phases: {measure: 5}}", true, `f.yaml:1:27: phases.measure: duration "5": it has no unit; write 5s or 5ms`},
		{"faults: [{at: 9s, kill: consumer 0}]\nquick: {phases: {measure: 5s}}", true, "f.yaml:1:15: faults[0].at: the fault comes at 9s, and the measured window ends at 5s"},
	} {
		_, err := suiteOf(Options{Quick: c.quick}, c.text)
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%q:\n got %v\nwant %s", c.text, err, c.want)
		}
	}
}

func TestReadTakesTheWholeForm(t *testing.T) {
	s, err := Parse("f.yaml", []byte("quick: {phases: {measure: 5s}, matrix: {load.acks: [1, all]}}"))
	if err != nil || s.Phases.Measure != Defaults().Phases.Measure {
		t.Errorf("%v, %+v", err, s.Phases)
	}
}

func TestAnswers(t *testing.T) {
	s, err := suiteOf(Options{}, "answer: knee")
	if err != nil || s.Answer != KneeAnswer {
		t.Errorf("%q, %v", s.Answer, err)
	}
	_, err = suiteOf(Options{}, "answer: best")
	if want := `f.yaml:1:9: answer: "best" is not known; choose one of most, knee, scaling, per-consumer, enough, slope, times, failover, savings, payloads, engines, engine-scaling, engine-times, redelivery, engine-faults or decision`; err == nil || err.Error() != want {
		t.Errorf("got %v\nwant %s", err, want)
	}
}

func TestDrivers(t *testing.T) {
	known := []string{"franz", "sarama"}
	for _, c := range []struct {
		text, driver, want string
	}{
		{"driver: samara", "", `f.yaml:1:9: driver: "samara" is not known; did you mean sarama? choose one of franz or sarama`},
		{"matrix: {driver: [franz, samara]}", "", `f.yaml:1:26: driver: "samara" is not known; did you mean sarama? choose one of franz or sarama`},
		{"variants: [{name: a}, {name: b, driver: samara}]", "", `f.yaml:1:41: driver: "samara" is not known; did you mean sarama? choose one of franz or sarama`},
		{"load: {rate: 1k/s}", "samara", `--driver samara: driver: "samara" is not known; did you mean sarama? choose one of franz or sarama`},
	} {
		_, err := suiteOf(Options{Drivers: known, Driver: c.driver}, c.text)
		if err == nil || err.Error() != c.want {
			t.Errorf("%q:\n got %v\nwant %s", c.text, err, c.want)
		}
		if _, err := suiteOf(Options{}, c.text); err != nil {
			t.Errorf("%q: %v", c.text, err)
		}
	}
}

func TestDriverOfOptions(t *testing.T) {
	for text, cells := range map[string]int{
		"driver: franz": 1,
		"matrix: {driver: [franz, librdkafka], load.acks: [1, all]}":         2,
		"variants: [{name: a, load: {acks: all}}, {name: b, driver: franz}]": 2,
	} {
		s, err := suiteOf(Options{Driver: "sarama"}, text)
		if err != nil || len(s.Cells) != cells {
			t.Errorf("%q: %d cells, %v", text, len(s.Cells), err)
		}
		for _, cell := range s.Cells {
			if cell.Scenario.Driver != "sarama" {
				t.Errorf("%q: %s has the driver %s", text, cell.Name, cell.Scenario.Driver)
			}
		}
	}
}
