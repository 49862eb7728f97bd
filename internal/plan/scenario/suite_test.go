package scenario

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
	"pgregory.net/rapid"
)

func suiteOf(o Options, text string, over ...string) (Suite, error) {
	layers := []layer{{"f.yaml", []byte(text)}}
	for i, text := range over {
		layers = append(layers, layer{fmt.Sprintf("over%d.yaml", i+1), []byte(text)})
	}
	return parseSuite(layers, o)
}

const sweep = `name: sweep
description: three codecs
question: which codec is the cheapest?
load: {rate: 5k/s}
matrix:
  load.compression: [none, snappy, zstd]
  load.level: [0, 3]
  exclude:
    - {load.compression: none, load.level: 3}
    - {load.level: 3, load.compression: snappy}
repeat: 5
order: blocked
seed: 7
`

func TestSuite(t *testing.T) {
	s, err := suiteOf(Options{}, sweep)
	if err != nil {
		t.Fatal(err)
	}
	cells := s.Cells
	s.Cells = nil
	want := Suite{
		Name: "sweep", Description: "three codecs", Question: "which codec is the cheapest?",
		Axes:   []Axis{{"load.compression", []string{"none", "snappy", "zstd"}}, {"load.level", []string{"0", "3"}}},
		Repeat: 5, Order: Blocked, Seed: 7,
	}
	if !reflect.DeepEqual(s, want) {
		t.Errorf("got %+v, want %+v", s, want)
	}
	var got []string
	for _, c := range cells {
		l := c.Scenario.Load
		got = append(got, fmt.Sprintf("%s %v: %s %s %d %s ×%d", c.Name, c.Values, c.Scenario.Name, l.Compression, l.Level, l.Rate, c.Scenario.Repeat))
	}
	if want := []string{
		"sweep-none-0 [none 0]: sweep-none-0 none 0 5k/s ×5",
		"sweep-snappy-0 [snappy 0]: sweep-snappy-0 snappy 0 5k/s ×5",
		"sweep-zstd-0 [zstd 0]: sweep-zstd-0 zstd 0 5k/s ×5",
		"sweep-zstd-3 [zstd 3]: sweep-zstd-3 zstd 3 5k/s ×5",
	}; !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestSuiteOfOne(t *testing.T) {
	s, err := ReadSuite("overload", Options{Set: []string{"repeat=3"}})
	if err != nil {
		t.Fatal(err)
	}
	one, err := Read("overload", "repeat=3")
	if err != nil {
		t.Fatal(err)
	}
	want := Suite{Name: "overload", Description: one.Description, Repeat: 3, Order: Interleaved, Cells: []Cell{{Name: "overload", Values: nil, Scenario: one}}}
	if !reflect.DeepEqual(s, want) {
		t.Errorf("got %+v, want %+v", s, want)
	}
}

func TestMatrixValues(t *testing.T) {
	s, err := suiteOf(Options{Env: env}, `
load: {acks: 0, linger: 1ms}
matrix:
  load: [{acks: 1}, {acks: all, idempotent: true}]
  load.record.size: [1KiB, {uniform: [64B, 1KiB]}]
  topic.config.max.message.bytes: [2000000, null, "${BYTES}"]
`)
	if err != nil {
		t.Fatal(err)
	}
	last := s.Cells[len(s.Cells)-1]
	if len(s.Cells) != 12 || last.Name != "f-acks-all-idempotent-true-uniform-64B-1KiB-3000000" {
		t.Errorf("%d cells, the last is %s", len(s.Cells), last.Name)
	}
	l := last.Scenario.Load
	if l.Acks != "all" || !l.Idempotent || l.Linger != 1e6 || l.Record.Size.Distribution != "uniform" ||
		last.Scenario.Topic.Config["max.message.bytes"] != "3000000" || s.Cells[1].Scenario.Topic.Config != nil {
		t.Errorf("the last cell is %+v, the second %+v", last.Scenario, s.Cells[1].Scenario.Topic)
	}
}

func TestSuiteMistakes(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"matrix: 5", `f.yaml:1:9: matrix: it is the single value "5", not a mapping; write it as {load.compression: [none, zstd]}`},
		{"matrix: {load.acks: 1}", `f.yaml:1:21: matrix.load.acks: it is the single value "1", not a list; list the values to run with, as in load.compression: [none, zstd]`},
		{"matrix: {load: {acks: [1]}}", `f.yaml:1:16: matrix.load: it is a mapping, not a list; write a path with dots and list the values to run with, as in load.compression: [none, zstd]`},
		{"matrix: {load.acks: []}", "f.yaml:1:21: matrix.load.acks: it has no values; list the values to run with, as in load.compression: [none, zstd]"},
		{"matrix: {load.acks:}", "f.yaml:1:20: matrix.load.acks: it has no value; give it one, or leave the key out"},
		{"matrix: {load.acks: [1, 1]}", "f.yaml:1:25: matrix.load.acks[1]: 1 is given twice; keep one of them; repeat says how often a cell is run"},
		{"matrix: {load.acks: [0], load.acks: [1]}", "f.yaml:1:26: matrix.load.acks: it is given twice, first at line 1; keep one of them"},
		{"matrix: {load.akcs: [1, 2]}", "f.yaml:1:10: load.akcs: unknown key; did you mean acks?"},
		{"matrix: {repeat: [1, 2]}", "f.yaml:1:10: matrix.repeat: it is the same for all cells; set repeat itself"},
		{"matrix: {load.rate: [1k/s, 10x]}", `f.yaml:1:28: load.rate: rate "10x": unknown multiplier "x"; write 10/s, 10k/s (thousands) or 10M/s (millions)`},
		{"matrix: {load.acks: [0, 1, 2]}", `f.yaml:1:28: load.acks: "2" is not known; choose one of 0, 1 or all`},
		// Each value and each path is checked independently.
		{"matrix:\n  load.akcs: [1, 2]\n  load.linger: 5ms\n  tpic.partitions: [1]\n  load.record.size: []\n  consume.zebra.x: [3]\n  load.rate: [1k/s, 10x]",
			"f.yaml:2:3: load.akcs: unknown key; did you mean acks?\n" +
				`f.yaml:3:16: matrix.load.linger: it is the single value "5ms", not a list; list the values to run with, as in load.compression: [none, zstd]` + "\n" +
				"f.yaml:4:3: tpic: unknown key; did you mean topic?\n" +
				"f.yaml:5:21: matrix.load.record.size: it has no values; list the values to run with, as in load.compression: [none, zstd]\n" +
				"f.yaml:6:3: consume.zebra: unknown key; the keys of consume are " + strings.Join(keysOf(reflect.TypeFor[Consume]()), ", ") + "\n" +
				`f.yaml:7:21: load.rate: rate "10x": unknown multiplier "x"; write 10/s, 10k/s (thousands) or 10M/s (millions)`},
		{"matrix: {load.rate: [1k/s, 2k/s, 1000/s]}", "f.yaml:1:34: matrix.load.rate[2]: 1k/s is given twice; keep one of them; repeat says how often a cell is run"},
		{"matrix: {consume.work: [4ms, {time: 4000us}]}", "f.yaml:1:30: matrix.consume.work: {time: 4000us} is the same as 4ms; keep one of them; repeat says how often a cell is run"},
		{"matrix: {load.linger: [5ms, null]}", "f.yaml:1:29: matrix.load.linger: null is the same as 5ms; keep one of them; repeat says how often a cell is run"},
		{"load: {linger: -1s}\nmatrix: {load.acks: [0, 1]}", "f.yaml:1:16: load.linger: -1s is too low; give at least 0s"},
		{"name: a b\nmatrix: {load.acks: [0, 1]}", `f.yaml:1:7: name: "a b" cannot be part of a folder's name; use letters, digits, dots, hyphens and underscores, a letter or digit first, 64 at most`},
		// A mistake that a value causes elsewhere is reported at the value.
		{"load: {level: 3}\nmatrix: {load.compression: [zstd, none]}", "f.yaml:2:35: load.level: compression none has no levels; leave it out"},
		{"matrix: {load.compression: [zstd, none], load.level: [0, 3]}", "f.yaml:1:58: load.level: compression none has no levels; leave it out; or exclude {load.compression: none, load.level: 3}"},
		{"load: {level: 3}\nmatrix: {load.linger: [0s], load.compression: [zstd, none], load.acks: [0, 1]}", "f.yaml:2:54: load.level: compression none has no levels; leave it out"},
		{"matrix: {load.linger: [0s, 1ms], backpressure.controller: [off, hysteresis]}", "f.yaml:1:65: backpressure.max_lag: hysteresis needs a lag above which the gate closes; give max_lag in records, as in 20000"},
		{"backpressure: {controller: hysteresis}\nmatrix: {backpressure.max_lag: 5}", `f.yaml:2:32: matrix.backpressure.max_lag: it is the single value "5", not a list; list the values to run with, as in load.compression: [none, zstd]`},
		{"matrix: {load.acks: [1], load: [{acks: 0}]}", "f.yaml:1:33: load.acks: the matrix sets it by load.acks and by load; let one axis set it"},
		{"matrix: {load.acks: [0, 1], exclude: 5}", `f.yaml:1:38: matrix.exclude: it is the single value "5", not a list; write it as [{load.compression: none, load.level: 3}]`},
		{"matrix: {load.acks: [0, 1], exclude: [0]}", "f.yaml:1:39: matrix.exclude[0]: it names no cells; write it as [{load.compression: none, load.level: 3}]"},
		{"matrix: {load.client: [{socket.timeout.ms: 5}, {socket.timeout.ms: 5}]}", "f.yaml:1:48: matrix.load.client[1]: … is given twice; keep one of them; repeat says how often a cell is run"},
		{"matrix: {load.acks: [0, 1], exclude: [{load.acks: all}]}", "f.yaml:1:51: matrix.exclude[0]: it matches no cell: load.acks is never all; its values are 0, 1"},
		{"matrix: {load.acks: [0, 1], exclude: [{load.ack: 0}]}", "f.yaml:1:40: matrix.exclude[0]: it matches no cell: the matrix does not vary load.ack; did you mean load.acks? it varies load.acks"},
		{"matrix: {exclude: [{load.acks: 0}]}", "f.yaml:1:21: matrix.exclude[0]: it matches no cell: the matrix does not vary load.acks; leave it out"},
		{"matrix: {load.acks: [0], exclude: [{load.acks: 0}]}", "f.yaml:1:1: matrix.exclude: it leaves no cell; exclude less"},
		{"order: random", `f.yaml:1:8: order: "random" is not known; choose one of interleaved or blocked`},
		{"seed: -1", `f.yaml:1:7: seed: "-1" is not a whole number; write a whole number from 0 to 18446744073709551615`},
	} {
		_, err := suiteOf(Options{}, c.text)
		if err == nil || err.Error() != c.want {
			t.Errorf("%q:\n got %v\nwant %s", c.text, err, c.want)
		}
	}
}

func TestUnreadableBase(t *testing.T) {
	_, err := suiteOf(Options{}, "backpressure: {max_lag: 5000\n", "backpressure: {controller: hysteresis}")
	if err == nil || err.Error() != "f.yaml:2:1: it is not YAML: while parsing a flow mapping: did not find expected ',' or '}'" {
		t.Errorf("got %v", err)
	}
}

func TestMatrixIsBounded(t *testing.T) {
	var values []string
	for i := range 40 {
		values = append(values, fmt.Sprint(i+1))
	}
	list := "[" + strings.Join(values, ", ") + "]"
	_, err := suiteOf(Options{}, "matrix: {load.in_flight: "+list+", topic.partitions: "+list+"}")
	if err == nil || err.Error() != "f.yaml:1:179: matrix: it makes more than 1000 cells; list fewer values" {
		t.Errorf("1600 cells: %v", err)
	}
	bomb := "matrix:\n  load.acks: [&a0 [x, x]"
	for i := range 40 {
		bomb += fmt.Sprintf(", &a%d [*a%d, *a%d]", i+1, i, i)
	}
	if _, err := suiteOf(Options{}, bomb+"]\n"); err == nil {
		t.Error("a bomb of aliases is accepted")
	}
	if _, err := suiteOf(Options{}, "matrix: &m {load: [*m, [*m]], exclude: [*m]}"); err == nil {
		t.Error("a matrix in itself is accepted")
	}
}

func TestCellNames(t *testing.T) {
	cell := func(values ...string) (list []choice) {
		for _, v := range values {
			list = append(list, choice{text: v})
		}
		return list
	}
	long := strings.Repeat("x", maxNameLength)
	for _, c := range []struct {
		suite string
		cells [][]choice
		want  []string
	}{
		{"s", [][]choice{cell("10k/s", "é"), cell("10k-s", "??"), cell("{a: 1, b: -2}", "")}, []string{"s-10k-s-other", "s-10k-s-other-2", "s-a-1-b--2-other"}},
		{long, [][]choice{cell("1"), cell("2")}, []string{long, long[:62] + "-2"}},
	} {
		if got := names(c.suite, c.cells); !slices.Equal(got, c.want) {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

func TestOverridesAndTheMatrix(t *testing.T) {
	_, err := suiteOf(Options{Set: []string{"load.compression=zstd"}}, sweep)
	want := "--set load.compression=zstd: the matrix sets it as well; write --set matrix.load.compression=[…] to choose among its values, or --set matrix.load.compression=null to stop varying it"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	for _, c := range []struct {
		set  []string
		want string
	}{
		{[]string{"matrix.load.compression=[none, zstd]", "matrix.exclude=[{load.compression: none, load.level: 3}]"}, "sweep-none-0 sweep-zstd-0 sweep-zstd-3"},
		{[]string{"matrix.load.compression=null", "matrix.exclude=null", "load.compression=zstd"}, "sweep-0 sweep-3"},
		{[]string{"matrix=null", "load.compression=zstd"}, "sweep"},
		{[]string{"load.linger=1ms", "name=x", "matrix.load.level=[0]", "matrix.exclude=null"}, "x-none-0 x-snappy-0 x-zstd-0"},
		{[]string{"matrix.load.level=null", "matrix.exclude=[{load.compression: none}]", "matrix.load.rate=[1k/s]"}, "sweep-snappy-1k-s sweep-zstd-1k-s"},
	} {
		s, err := suiteOf(Options{Set: c.set}, sweep)
		var got []string
		for _, cell := range s.Cells {
			got = append(got, cell.Name)
		}
		if err != nil || strings.Join(got, " ") != c.want {
			t.Errorf("%q: %q (%v), want %s", c.set, got, err, c.want)
		}
	}
}

func TestNumberOfCells(t *testing.T) {
	pool := []struct {
		path   string
		values []string
	}{
		{"load.in_flight", []string{"1", "2", "3", "4"}}, {"load.acks", []string{"0", "1", "all"}},
		{"load.linger", []string{"0s", "1ms", "2ms"}}, {"topic.partitions", []string{"1", "2"}}, {"load.pacer", []string{"frugal", "precise"}},
	}
	rapid.Check(t, func(t *rapid.T) {
		axes := rapid.Permutation(pool).Draw(t, "axes")[:rapid.IntRange(1, len(pool)).Draw(t, "number of axes")]
		cells := []map[string]string{{}}
		var text, exclude strings.Builder
		text.WriteString("matrix:\n")
		for i, a := range axes {
			axes[i].values = rapid.Permutation(a.values).Draw(t, "values")[:rapid.IntRange(1, len(a.values)).Draw(t, "number of values")]
			fmt.Fprintf(&text, "  %s: [%s]\n", a.path, strings.Join(axes[i].values, ", "))
			var longer []map[string]string
			for _, cell := range cells {
				for _, v := range axes[i].values {
					next := map[string]string{a.path: v}
					for path, value := range cell {
						next[path] = value
					}
					longer = append(longer, next)
				}
			}
			cells = longer
		}
		for range rapid.IntRange(0, 3).Draw(t, "exclusions") {
			terms := make(map[string]string)
			for _, a := range axes {
				if rapid.Bool().Draw(t, "of this axis") {
					terms[a.path] = rapid.SampledFrom(a.values).Draw(t, "excluded")
				}
			}
			if len(terms) == 0 {
				continue
			}
			line := ""
			for path, value := range terms {
				line += path + ": " + value + ", "
			}
			fmt.Fprintf(&exclude, "    - {%s}\n", line)
			cells = slices.DeleteFunc(cells, func(cell map[string]string) bool {
				for path, value := range terms {
					if cell[path] != value {
						return false
					}
				}
				return true
			})
		}
		if exclude.Len() > 0 {
			text.WriteString("  exclude:\n" + exclude.String())
		}
		s, err := suiteOf(Options{}, text.String())
		if (err == nil) != (len(cells) > 0) || len(s.Cells) != len(cells) {
			t.Fatalf("%s has %d cells (%v), want %d", text.String(), len(s.Cells), err, len(cells))
		}
		for i, c := range s.Cells {
			for j, a := range s.Axes {
				if c.Values[j] != cells[i][a.Path] {
					t.Fatalf("%s: cell %d is %v, want %v", text.String(), i, c.Values, cells[i])
				}
			}
		}
	})
}

func TestMerge(t *testing.T) {
	s, err := suiteOf(Options{Set: []string{"consume.consumers=3"}},
		"name: base\nload: {rate: 5k/s, arrival: {process: spike, peak: 9k/s, length: 1s}, acks: 0}\nconsume: {changes: [{at: 1s, work: 1ms}, {at: 2s, work: 2ms}]}\ntopic: {partitions: 3, config: {a: 1, b: 2}}\nmatrix: {load.acks: [0, 1], load.linger: [0s]}",
		"load: {rate: null, arrival: {at: 3s}, linger: 9ms}\nconsume: {consumers: 2, changes: [{at: 5s, work: 5ms}]}\ntopic: {config: {b: null, c: 3}}\nmatrix: {load.linger: null, load.acks: [1], load.level: [0]}",
		"load: {arrival: {peak: 7k/s}}\ntopic: {partitions: null}\nrepeat: 2",
	)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Cells) != 1 || s.Cells[0].Name != "base-1-0" || s.Repeat != 2 {
		t.Fatalf("the suite is %+v", s)
	}
	got := s.Cells[0].Scenario
	l := got.Load
	if l.Rate != Defaults().Load.Rate || l.Arrival.Peak != perSecond(7000) || l.Arrival.At != 3e9 || l.Arrival.Length != 1e9 || l.Linger != 9e6 || l.Acks != "1" {
		t.Errorf("load is %+v", l)
	}
	if got.Consume.Consumers != 3 || len(got.Consume.Changes) != 1 || got.Topic.Partitions != 12 ||
		!reflect.DeepEqual(got.Topic.Config, map[string]string{"a": "1", "c": "3"}) {
		t.Errorf("consume is %+v, topic %+v", got.Consume, got.Topic)
	}
}

func TestMistakesOfSeveralFiles(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	write(t, "a.yaml", "load:\n  rate: 5x\n  acks: ${ACKS}\n")
	write(t, "b.yaml", "load: {linger: -1s}\nphases: {measure: ${\n")
	write(t, "c.yaml", "consume: {consumers: many}\n")
	_, err := ReadSuite("a.yaml", Options{Merge: []string{"quick", "c.yaml", "b.yaml"}, Set: []string{"load.level=x", "load={in_flight: 0}"}, Env: env})
	want := `a.yaml:2:9: load.rate: rate "5x": unknown multiplier "x"; write 5/s, 5k/s (thousands) or 5M/s (millions)
a.yaml:3:9: load.acks: the environment has no variable ACKS; set it, or write ${ACKS:-default}; for a ${ that is no variable write $${
c.yaml:1:22: consume.consumers: "many" is not a whole number; write a whole number, as in 12
b.yaml:2:20: it is not YAML: while parsing a flow mapping: did not find expected ',' or '}'; within { } and [ ] a variable stands in quotes: "${NAME}"
--set load.level=x: "x" is not a whole number; write a whole number, as in 12`
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
	_, err = ReadSuite("nowhere.yaml", Options{Merge: []string{"quick", "else.yaml"}})
	if err == nil || !strings.Contains(err.Error(), "nowhere.yaml") || !strings.Contains(err.Error(), "else.yaml") || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("files that are not there: %v", err)
	}
	s, err := ReadSuite("quick", Options{Merge: []string{"overload"}})
	if overload, _ := Read("overload"); err != nil || !reflect.DeepEqual(s.Cells[0].Scenario.Consume, overload.Consume) {
		t.Errorf("with overload over it, quick consumes %+v (%v)", s.Cells[0].Scenario.Consume, err)
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Clean(name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

type setting struct{ path, value string }

var settingPool = []setting{
	{"load.rate", "7k/s"}, {"load.rate", "9k/s"}, {"load.rate", "null"}, {"load.acks", "0"}, {"load.acks", "all"},
	{"load.arrival.process", "poisson"}, {"load.record.size", "1KiB"}, {"load.record.size", "2KiB"}, {"load.record.size", "null"},
	{"load.record.keys.distribution", "uniform"}, {"load.record.keys.count", "5"}, {"load.record.keys.count", "null"}, {"load.record.keys", "null"},
	{"consume.work.time", "1ms"}, {"consume.work.jitter", "2ms"}, {"consume.work", "null"}, {"topic.config.a", "1"}, {"topic.config.a", "null"}, {"topic.config.b.c", "2"},
	{"topic.config", "null"}, {"phases.warmup", "0s"}, {"phases.warmup", "null"}, {"cluster.jvm", "[-Xss1m]"}, {"cluster.jvm", "null"}, {"name", "x"}, {"name", "null"}, {"repeat", "4"},
}

func file(settings []setting) string {
	root := make(map[string]any)
	for _, s := range settings {
		at, keys := root, splitPath(s.path)
		for _, key := range keys[:len(keys)-1] {
			inner, ok := at[key].(map[string]any)
			if !ok {
				inner = make(map[string]any)
				at[key] = inner
			}
			at = inner
		}
		at[keys[len(keys)-1]] = &yaml.Node{Kind: yaml.ScalarNode, Value: s.value}
	}
	text, err := yaml.Dump(root)
	if err != nil {
		panic(err)
	}
	return strings.ReplaceAll(string(text), "'[-Xss1m]'", "[-Xss1m]")
}

// Files give the same suite if they are merged one by one, some of them first, or as overrides.
func TestMergeIsAssociative(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func() []setting {
			drawn := rapid.SliceOfN(rapid.SampledFrom(settingPool), 0, 6).Draw(t, "settings")
			// A file cannot have both a mapping that is null and keys of it.
			return slices.DeleteFunc(drawn, func(s setting) bool {
				return slices.ContainsFunc(drawn, func(other setting) bool { return other != s && other.value == "null" && within(other.path, s.path) })
			})
		}
		a, b, c := draw(), draw(), draw()
		one, err := suiteOf(Options{}, file(a), file(b), file(c))
		var set []string
		for _, s := range slices.Concat(b, c) {
			set = append(set, s.path+"="+s.value)
		}
		two, err2 := suiteOf(Options{Set: set}, file(a))
		three, err3 := suiteOf(Options{}, file(a), file(b), file(c), file(c))
		if (err == nil) != (err2 == nil) || (err == nil) != (err3 == nil) {
			t.Fatalf("by files: %v; by overrides: %v; the last twice: %v", err, err2, err3)
		}
		if !reflect.DeepEqual(one, two) || !reflect.DeepEqual(one, three) {
			t.Fatalf("by files\n%+v\nby overrides\n%+v\nthe last twice\n%+v", one, two, three)
		}
		bc := slices.Concat(b, c)
		if slices.ContainsFunc(bc, func(s setting) bool { return s.value == "null" }) {
			return // a file cannot have both null and another value for a key
		}
		if four, err := suiteOf(Options{}, file(a), file(bc)); err == nil && !reflect.DeepEqual(one, four) {
			t.Fatalf("by files\n%+v\ntwo of them merged first\n%+v", one, four)
		}
	})
}
