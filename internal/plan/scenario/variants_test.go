package scenario

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

const family = `name: family
load: {rate: 5k/s, linger: 1ms}
backpressure: {excess: shed, poll: 50ms}
variants:
  - name: off
  - {name: tight, description: a tight one, backpressure: {controller: credit, max_lag: 100}}
  - name: slow.1
    consume: {commit: 2s, consumers: 3}
    backpressure: {controller: latency, target: 1s}
`

func cellsOf(s Suite) string {
	var lines []string
	for _, c := range s.Cells {
		b := c.Scenario.Backpressure
		lines = append(lines, fmt.Sprintf("%s %v %s %s %s %d %s %s %d", c.Name, c.Values, c.Scenario.Load.Rate, c.Scenario.Load.Acks,
			b.Controller, b.MaxLag, b.Poll, b.Excess, c.Scenario.Consume.Consumers))
	}
	return strings.Join(lines, "\n")
}

func TestVariants(t *testing.T) {
	for _, c := range []struct {
		name string
		text string
		over []string
		set  []string
		want string
	}{
		{"as written", family, nil, nil, `family-off [off] 5k/s 1 off 0 50ms shed 1
family-tight [tight] 5k/s 1 credit 100 50ms shed 1
family-slow.1 [slow.1] 5k/s 1 latency 0 50ms shed 3`},
		{"the command line holds over them", family, nil, []string{"load.rate=7k/s", "consume.consumers=2", "backpressure.poll=null"}, `family-off [off] 7k/s 1 off 0 100ms shed 2
family-tight [tight] 7k/s 1 credit 100 100ms shed 2
family-slow.1 [slow.1] 7k/s 1 latency 0 100ms shed 2`},
		{"with a matrix", family + "matrix: {load.acks: [0, all], exclude: [{load.acks: all, variant: off}, {variant: slow.1}]}", nil, nil, `family-0-off [0 off] 5k/s 0 off 0 50ms shed 1
family-0-tight [0 tight] 5k/s 0 credit 100 50ms shed 1
family-all-tight [all tight] 5k/s all credit 100 50ms shed 1`},
		{"some of them, in another order", family, nil, []string{"variants=[tight, off]"}, `family-tight [tight] 5k/s 1 credit 100 50ms shed 1
family-off [off] 5k/s 1 off 0 50ms shed 1`},
		{"a later file's list", family, []string{"variants: [off, {name: new, load: {acks: 0}, backpressure: {controller: gradient}}]"}, nil,
			`family-off [off] 5k/s 1 off 0 50ms shed 1
family-new [new] 5k/s 0 gradient 0 50ms shed 1`},
		{"none of them", family, nil, []string{"variants=null"}, "family [] 5k/s 1 off 0 50ms shed 1"},
		{"aliases and variables", "name: f\nvariants: [&a {name: a, load: &l {acks: 0, rate: '${RATE:-2k/s}'}}, {name: b, load: *l, consume: {consumers: 4}}]", nil, nil,
			"f-a [a] 20k/s 0 off 0 100ms defer 1\nf-b [b] 20k/s 0 off 0 100ms defer 4"},
		{"a short form replaces", "name: f\nbackpressure: {controller: credit, max_lag: 5, poll: 7ms}\nvariants: [{name: a, backpressure: off}, {name: b}]", nil, nil,
			"f-a [a] 1k/s 1 off 0 100ms defer 1\nf-b [b] 1k/s 1 credit 5 7ms defer 1"},
	} {
		s, err := suiteOf(Options{Set: c.set, Env: env}, c.text, c.over...)
		if got := cellsOf(s); err != nil || got != c.want {
			t.Errorf("%s:\n%s (%v), want\n%s", c.name, got, err, c.want)
		}
	}
	s, err := suiteOf(Options{}, family)
	if err != nil || !reflect.DeepEqual(s.Axes, []Axis{{VariantAxis, []string{"off", "tight", "slow.1"}}}) {
		t.Errorf("the axes are %+v (%v)", s.Axes, err)
	}
	if got := s.Cells[1].Scenario.Description; got != "a tight one" {
		t.Errorf("the variant is described as %q", got)
	}
}

func TestVariantMistakes(t *testing.T) {
	const two = "variants:\n  - {name: a}\n  - name: b\n    "
	for _, c := range []struct {
		text string
		set  []string
		want string
	}{
		{"variants: 5", nil, `f.yaml:1:11: variants: it is the single value "5", not a list; list them, as in [{name: tight, backpressure: {controller: credit, max_lag: 1000}}]`},
		{"variants: []", nil, "f.yaml:1:11: variants: it has no variants; list them, as in [{name: tight, backpressure: {controller: credit, max_lag: 1000}}], or leave it out"},
		{"variants: [a b]", nil, `f.yaml:1:12: variants[0]: there is no variant "a b"; write it as {name: a-b, backpressure: {controller: credit, max_lag: 1000}}`},
		{"variants: [[a]]", nil, "f.yaml:1:12: variants[0]: it is a list, not a mapping; write it as {name: tight, backpressure: {controller: credit, max_lag: 1000}}"},
		{"variants: [{name: a, against: b}, {name: c, load: {acks: 0}}]", nil, `f.yaml:1:12: variants[0].against: there is no variant "b"; choose one of a or c`},
		{"variants: [{name: a, against: a}, {name: c, load: {acks: 0}}]", nil, "f.yaml:1:12: variants[0].against: a is compared with itself; name another variant, or leave it out"},
		{"variants: [{load: {acks: 1}}]", nil, "f.yaml:1:12: variants[0]: it has no name; give it one, as in name: tight"},
		{"variants: [{name: a b}]", nil, `f.yaml:1:19: variants[0].name: "a b" cannot be part of a folder's name; use letters, digits, dots, hyphens and underscores, a letter or digit first, 64 at most`},
		{"variants: [{name: [a]}]", nil, "f.yaml:1:19: variants[0].name: a list cannot be part of a folder's name; use letters, digits, dots, hyphens and underscores, a letter or digit first, 64 at most"},
		{"variants: [{name: a}, {name: a, load: {acks: 0}}]", nil, "f.yaml:1:23: variants[1]: a is given twice; give it another name, or keep one of them; repeat says how often a variant is run"},
		{"variants: [{name: a, repeat: 2}]", nil, "f.yaml:1:22: variants[0].repeat: it is the same for all variants; set repeat itself"},
		{"matrix: {variant: [a]}", nil, "f.yaml:1:10: matrix.variant: variants have a list of their own; write variants: [{name: a, …}, …]"},
		{"matrix: {load.acks: [0], exclude: [{variant: a}]}", nil, "f.yaml:1:37: matrix.exclude[0]: it matches no cell: there are no variants; it varies load.acks"},
		{family + "matrix: {load.acks: [0, 1], exclude: [{variant: tigth}]}", nil, "f.yaml:10:49: matrix.exclude[0]: it matches no cell: variant is never tigth; did you mean tight? its values are off, tight, slow.1"},
		// A mistake of one variant has its place.
		{two + "load: {akcs: 0}", nil, "f.yaml:4:12: load.akcs: unknown key; did you mean acks?"},
		{two + "load: {rate: 10x}", nil, `f.yaml:4:18: load.rate: rate "10x": unknown multiplier "x"; write 10/s, 10k/s (thousands) or 10M/s (millions)`},
		{two + "backpressure: {controller: credit}", nil, "f.yaml:4:32: backpressure.max_lag: credit needs the lag that is never to be exceeded; give max_lag in records, as in 5000"},
		{two + "backpressure: {controller: credit,\n      max_lag: -4}", nil, "f.yaml:5:16: backpressure.max_lag: -4 is too low; give at least 1"},
		{"load: {level: 3, compression: zstd}\n" + two + "load: {compression: none}", nil, "f.yaml:5:25: load.level: compression none has no levels; leave it out"},
		{two + "load: {acks: 1}", nil, "f.yaml:3:5: variants: b is the same as a; keep one of them; repeat says how often a cell is run"},
		{two + "load: {acks: 0}\nmatrix: {load.acks: [1, all]}", nil, "f.yaml:5:22: load.acks: the matrix sets it by variant and by load.acks; let one axis set it\n" +
			"f.yaml:5:25: load.acks: the matrix sets it by variant and by load.acks; let one axis set it"},
		{two + "load: {compression: none}\nmatrix: {load.level: [0, 3], load.acks: [0]}\nload: {compression: zstd}", nil,
			"f.yaml:5:26: load.level: compression none has no levels; leave it out; or exclude {load.level: 3, variant: b}"},
		// A mistake of an override has its place.
		{family, []string{"variants=[tigth]"}, `--set variants=[tigth]: variants[0]: there is no variant "tigth"; did you mean tight? choose one of off, tight or slow.1`},
		{family, []string{"variants=[off, off]"}, "--set variants=[off, off]: variants[1]: off is given twice; give it another name, or keep one of them; repeat says how often a variant is run"},
		{family, []string{"variants=tight"}, `--set variants=tight: it is the single value "tight", not a list; to run only that variant write [tight]`},
		{family, []string{"backpressure.max_lag=-4"}, "--set backpressure.max_lag=-4: -4 is too low; give at least 1\n--set backpressure.max_lag=-4: -4 is too low; give at least 0"},
		{family, []string{"backpressure=off"}, "f.yaml:6:5: variants: tight is the same as off; keep one of them; repeat says how often a cell is run"},
	} {
		_, err := suiteOf(Options{Set: c.set}, c.text)
		if err == nil || err.Error() != c.want {
			t.Errorf("%q %q:\n got %v\nwant %s", c.text, c.set, err, c.want)
		}
	}
	if _, err := Parse("f.yaml", []byte(family)); err == nil || err.Error() != "f.yaml:5:3: variants: it makes a suite of this scenario, and one scenario is wanted here; give it to the run command, or leave it out (--set variants=null)" {
		t.Errorf("one scenario: %v", err)
	}
}

func TestVariantIsAFileMergedOver(t *testing.T) {
	pool := slices.DeleteFunc(slices.Clone(settingPool), func(s setting) bool { return s.path == "name" || s.path == "repeat" })
	rapid.Check(t, func(t *rapid.T) {
		draw := func(label string) []setting {
			drawn := rapid.SliceOfN(rapid.SampledFrom(pool), 0, 5).Draw(t, label)
			return slices.DeleteFunc(drawn, func(s setting) bool {
				return slices.ContainsFunc(drawn, func(other setting) bool { return other != s && other.value == "null" && within(other.path, s.path) })
			})
		}
		base, part := file(draw("base")), file(draw("variant"))
		var set []string
		for _, s := range draw("set") {
			set = append(set, s.path+"="+s.value)
		}
		merged, err := suiteOf(Options{Set: append(set, "name=f-a", "description=d")}, base, part)
		list := "variants:\n  - name: a\n"
		if part != "{}\n" {
			list += "    " + strings.ReplaceAll(strings.TrimSpace(part), "\n", "\n    ") + "\n"
		}
		family, err2 := suiteOf(Options{Set: append(set, "name=f", "description=d")}, base, list)
		if (err == nil) != (err2 == nil) {
			t.Fatalf("merged: %v; as a variant: %v", err, err2)
		}
		if err == nil && !reflect.DeepEqual(family.Cells[0].Scenario, merged.Cells[0].Scenario) {
			t.Fatalf("%s%s%q\nas a variant %+v\nmerged %+v", base, list, set, family.Cells[0].Scenario, merged.Cells[0].Scenario)
		}
	})
}
