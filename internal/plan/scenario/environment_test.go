package scenario

import (
	"os"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func env(name string) (string, bool) {
	value, ok := map[string]string{
		"RATE": "20k/s", "BYTES": "3000000", "EMPTY": "", "N": "8", "NAME": "orders", "YAML": "{a: 1}\nb: 2", "BAD": "\xff", "TEXT": "${RATE}",
	}[name]
	return value, ok
}

func TestEnvironment(t *testing.T) {
	for _, c := range []struct {
		text string
		set  []string
		got  func(Scenario) string
		want string
	}{
		{"load:\n  rate: ${RATE}\n", nil, func(s Scenario) string { return s.Load.Rate.String() }, "20k/s"},
		{"load:\n  rate: ${NONE:-7k/s} # ${NONE}\n", nil, func(s Scenario) string { return s.Load.Rate.String() }, "7k/s"},
		{`load: {rate: "${EMPTY:-7k/s}", producers: "${N}"}`, nil, func(s Scenario) string { return s.Load.Rate.String() }, "7k/s"},
		{"name: a-${NAME}-${N}${EMPTY}\n", nil, func(s Scenario) string { return s.Name }, "a-orders-8"},
		{"description: '$${NAME} costs $5, $$${N} or ${NONE:-}'\n", nil, func(s Scenario) string { return s.Description }, "${NAME} costs $5, $${N} or "},
		{"description: ${YAML}\n", nil, func(s Scenario) string { return s.Description }, "{a: 1}\nb: 2"},
		{"description: ${TEXT}\n", nil, func(s Scenario) string { return s.Description }, "${RATE}"},
		{"topic: {config: {k: '${N}'}}", []string{"topic.config.l=${NAME}"}, func(s Scenario) string { return s.Topic.Config["k"] + s.Topic.Config["l"] }, "8orders"},
		{"load: {acks: 1}", []string{"load.rate=${RATE}"}, func(s Scenario) string { return s.Load.Rate.String() }, "20k/s"},
		{"cluster: {jvm: &j ['-${NAME}'], config: {a: b}}", nil, func(s Scenario) string { return s.Cluster.JVM[0] }, "-orders"},
	} {
		s, err := suiteOf(Options{Env: env, EnvTexts: []string{"NAME", "N", "EMPTY", "NONE", "YAML", "TEXT"}, Set: c.set}, c.text)
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
		} else if got := c.got(s.Cells[0].Scenario); got != c.want {
			t.Errorf("%q gives %q, want %q", c.text, got, c.want)
		}
	}
	t.Setenv("KAFKA_BENCH_TEST_RATE", "3k/s")
	if s, err := suiteOf(Options{}, "load:\n  rate: ${KAFKA_BENCH_TEST_RATE}"); err != nil || s.Cells[0].Scenario.Load.Rate != perSecond(3000) {
		t.Errorf("the process's own environment: %+v (%v)", s, err)
	}
}

// A scenario may be a stranger's, and its texts are stored with the run.
func TestVariablesInTexts(t *testing.T) {
	const secret = "canary"
	o := Options{Env: func(string) (string, bool) { return secret, true }, Drivers: []string{"franz"}}
	var free []string
	var visit func(v reflect.Type, path string)
	visit = func(of reflect.Type, path string) {
		for _, f := range fieldsOf(of) {
			field, at := of.FieldByIndex(f.index).Type, join(path, f.key)
			switch field.Kind() {
			case reflect.Struct:
				visit(field, at)
			case reflect.String:
				if freeText(at) {
					free = append(free, at)
				}
				_, err := suiteOf(Options{Env: o.Env, Drivers: o.Drivers, Set: []string{at + "=${SECRET}"}}, "repeat: 1\n")
				if err == nil {
					t.Errorf("%s takes a variable that is none of its words", at)
				}
			}
		}
	}
	visit(reflect.TypeFor[document](), "")
	if len(free) != len(freeTexts) {
		t.Errorf("%q, want the keys %q", free, freeTexts)
	}
	for _, text := range []string{
		"description: a ${SECRET}", "cluster: {jvm: ['-Xss${SECRET}']}", "cluster: {disks: ['/${SECRET}']}", "cluster: {config: {broker.rack: '${SECRET}'}}",
		"topic: {config: {k: '${SECRET}'}}", "topic: {existing: '${SECRET:-x}'}", "load: {client: {k: '${SECRET}'}}", "consume: {client: {k: '${SECRET}'}}",
		"variants: [{name: '${SECRET}', load: {acks: 1}}]", "variants: [{name: a, description: '${SECRET}'}]", "matrix: {topic.name: ['${SECRET}', b]}",
		"quick: {topic: {name: '${SECRET}'}}", "load: {batch: &x '${SECRET}'}\ndescription: *x",
	} {
		_, err := suiteOf(o, text)
		if err == nil || !strings.Contains(err.Error(), "it takes the variable SECRET into a text, which is stored with the run (from ") || !strings.Contains(err.Error(), "; if you trust the file, add --env SECRET to the command") {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, text := range []string{"load: {rate: '${RATE}'}", "load: {rate: '${NONE:-1k/s}'}", "description: '${RATE}'"} {
		_, err := Parse("f.yaml", []byte(text))
		if err == nil || !strings.Contains(err.Error(), "a stored scenario takes nothing from the environment; write the value itself") {
			t.Errorf("%s in a stored scenario: %v", text, err)
		}
	}
}

func TestEnvironmentMistakes(t *testing.T) {
	const literal = "; for a ${ that is no variable write $${"
	for _, c := range []struct{ text, want string }{
		{"load:\n  rate: ${NONE}", "f.yaml:2:9: load.rate: the environment has no variable NONE; set it, or write ${NONE:-default}" + literal},
		{"load:\n  rate: ${RATE", "f.yaml:2:9: load.rate: ${RATE is not closed; write ${NAME} or ${NAME:-default}" + literal},
		{"load:\n  rate: ${a b}", "f.yaml:2:9: load.rate: ${a b} does not name a variable; write ${NAME} or ${NAME:-default}, with letters, digits and underscores in the name" + literal},
		{"name: '${NONE:-${RATE}}'", "f.yaml:1:7: name: ${NONE:-${RATE} does not name a variable; write ${NAME} or ${NAME:-default}, with letters, digits and underscores in the name" + literal},
		{"name: ${BAD}", "f.yaml:1:7: name: the variable BAD is not UTF-8 text; set it to text" + literal},
		{"load:\n  linger: ${N}", `f.yaml:2:11: load.linger: duration "${N}": not a duration; write it as 5ms, 2s or 1m30s`},
		{"load:\n  in_flight: ${EMPTY}", `f.yaml:2:14: load.in_flight: "${EMPTY}" is not a whole number; write a whole number, as in 12`},
		{"load: {rate: ${RATE}}", `f.yaml:1:15: it is not YAML: while parsing a flow mapping: did not find expected ',' or '}'; within { } and [ ] a variable stands in quotes: "${NAME}"`},
		{"phases:\n  drain: &d ${N}h\nbackpressure:\n  poll: *d", "f.yaml:4:9: backpressure.poll: ${N}h is too high; give at most 1m"},
		{"matrix:\n  load.producers: [1, '${NONE:--2}']", `f.yaml:2:23: load.producers: ${NONE:--2} is too low; give at least 0`},
		{`"${NAME}": 5`, "f.yaml:1:1: ${NAME}: unknown key; the keys of a scenario are " + strings.Join(keysOf(reflect.TypeFor[document]()), ", ")},
		{"matrix:\n  load.rate: [1k/s, '${NONE}']", "f.yaml:2:21: matrix.load.rate[1]: the environment has no variable NONE; set it, or write ${NONE:-default}" + literal},
	} {
		_, err := suiteOf(Options{Env: env, EnvTexts: []string{"NONE", "BAD"}}, c.text)
		if err == nil || err.Error() != c.want {
			t.Errorf("%q:\n got %v\nwant %s", c.text, err, c.want)
		}
	}
	long := func(string) (string, bool) { return strings.Repeat("x", 1<<17), true }
	_, err := suiteOf(Options{Env: long, EnvTexts: []string{"A"}}, "cluster: {jvm: ["+strings.Repeat("'${A}', ", 20)+"]}")
	if err == nil || !strings.Contains(err.Error(), "with all variables replaced the scenario is larger than 1 MiB") {
		t.Errorf("too much of the environment: %.200v", err)
	}
}

// A variable that is not understood may be a secret: a message has its name instead.
func TestMistakesHideValues(t *testing.T) {
	for _, secret := range []string{"Canary-0f3a", "12x/Canary", "Canary\nin \"two\" lines"} {
		o := Options{Env: func(string) (string, bool) { return secret, true }, Drivers: []string{"franz"}}
		texts := []string{
			"load: ${S}", "load: {rate: ['${S}', '${S}']}", "topic: {partitions: '${S}0000000'}", "matrix: {load.rate: [1k/s, '${S}']}",
			"matrix: {load.acks: ['${S}', all]}", "matrix: '${S}'", "repeat: 2\nmatrix: {load.rate: [1k/s], exclude: [{load.rate: '${S}'}]}",
			"variants: ['${S}']", "variants: '${S}'", "quick: '${S}'", "faults: ['${S}']", "load: {record: {size: '${S}'}}", "load: {record: {size: {list: ['${S}']}}}",
			"load: {client: '${S}'}", "cluster: {disks: '${S}'}", "consume: {queue: '${S}'}", "backpressure: '${S}'", "load: {arrival: '${S}'}", "consume: {commit: '${S}'}",
		}
		var visit func(reflect.Type, string)
		visit = func(of reflect.Type, path string) {
			for _, f := range fieldsOf(of) {
				field, at := of.FieldByIndex(f.index).Type, join(path, f.key)
				if field.Kind() == reflect.Struct {
					visit(field, at)
				}
				o.Set = []string{at + "=${S}"}
				wantHidden(t, o, "repeat: 1\n", secret)
				o.Set = nil
			}
		}
		visit(reflect.TypeFor[document](), "")
		for _, text := range texts {
			wantHidden(t, o, text, secret)
		}
	}
}

func wantHidden(t *testing.T, o Options, text, secret string) {
	t.Helper()
	_, err := suiteOf(o, text)
	if err == nil {
		return
	}
	said := strings.ReplaceAll(err.Error(), ",", "")
	for _, part := range []string{secret, strings.ToLower(secret), strings.Trim(strconv.Quote(secret), `"`), "Canary", "canary"} {
		if len(part) > 3 && strings.Contains(said, part) {
			t.Errorf("%s %v shows %q: %v", text, o.Set, part, err)
		}
	}
}

func TestLiterally(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.RuneFrom([]rune("${}$AB:-"))).Draw(t, "text")
		e := environment{lookup: os.LookupEnv}
		if got, problem, _ := e.replace(literally(text)); got != text || problem != "" {
			t.Fatalf("%q is written %q and read back %q (%s)", text, literally(text), got, problem)
		}
	})
}
