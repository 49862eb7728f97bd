package scenario

import (
	"cmp"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"kafkabench.example/kafka-bench/internal/plan/native"
	"kafkabench.example/kafka-bench/internal/plan/unit"
)

// Option is an option of another tool, or a key of a scenario, as somebody typed it.
type Option struct{ Name, Value string }

// Translation is what options are here, as parts of a command line. What has no counterpart is only in Meaning.
type Translation struct {
	Command  string   // search; "" is run
	Scenario string   // a preset or a file; "" if no option names one
	Flags    []string // "brokers=a:9092"
	Set      []Setting
	Words    []string  // the options' names
	Meaning  string    // for people; "" if no option is known
	Remarks  []string  // what is left out or added, each with the reason
	Varied   []Setting // what variants have that Set chooses

	fills bool // the run fills the topic that it reads
}

// Setting is a key of a scenario with its value, and the option that gave it; "" if none did.
type Setting struct{ Key, Value, Word string }

func (s Setting) String() string { return s.Key + "=" + s.Value }

// Add adds the parts of u.
func (t *Translation) Add(u Translation) {
	t.Command, t.Scenario = cmp.Or(t.Command, u.Command), cmp.Or(t.Scenario, u.Scenario)
	t.Remarks = append(t.Remarks, u.Remarks...)
	t.Flags, t.Set, t.Words = append(t.Flags, u.Flags...), append(t.Set, u.Set...), append(t.Words, u.Words...)
	t.Meaning = strings.Trim(t.Meaning+"; "+u.Meaning, "; ")
}

// Given reports whether t has a part of a command line.
func (t Translation) Given() bool {
	return t.Command != "" || t.Scenario != "" || len(t.Flags)+len(t.Set) > 0
}

// Pairs reports whether the value of an option is a list of options, as in --producer-props acks=1.
func Pairs(name string) bool {
	return slices.ContainsFunc(alternatives(name), func(alternative string) bool {
		target, _, _ := strings.Cut(alternative, ", ")
		return slices.Contains([]string{"the flag --set", "load.client", "consume.client", topicConfig}, target)
	})
}

const topicConfig = "topic.config"

var pair = regexp.MustCompile(`["']?([\w.-]+)["']?\s*(?:=|:\s)\s*["']?(\[\[[^=]*\]\]|[^,;\s"'{}\[\]]*)["']?`)

// none has the options whose value 0 is that there is no backlog, burst or change.
var none = regexp.MustCompile(`^(?:consumerbacklogsizegb|burst.*|phaseduration)$`)

// Translate returns what one option is here. A number without a unit gets that of the option's name:
// testDurationMinutes 5 is phases.measure=5m.
func Translate(o Option) (t Translation) {
	if pairs := pair.FindAllStringSubmatch(o.Value, -1); len(pairs) > 0 && Pairs(o.Name) {
		for _, p := range pairs {
			if alternatives(o.Name)[0] == topicConfig {
				p[1] = topicConfig + "." + p[1]
			}
			t.Add(Translate(Option{p[1], p[2]}))
		}
		t.Meaning = cmp.Or(t.Meaning, Meaning(o.Name))
		return t
	}
	if steps := rateStep.FindAllStringSubmatch(o.Value, -1); len(steps) > 0 && synonym(o.Name) == theScenario {
		return ofSteps(o, steps)
	}
	t.Meaning = Meaning(o.Name)
	if none.MatchString(canonicalName(o.Name)) && strings.Trim(o.Value, "0hms") == "" {
		t.Meaning = "nothing: 0 is none"
		return t
	}
	t.Words = []string{canonicalName(o.Name)}
	for _, alternative := range alternatives(o.Name) {
		if t.take(alternative, o); t.Given() {
			break
		}
		if strings.HasPrefix(alternative, "nothing: ") && o.Value != "" { // no other takes the value
			t.Meaning = alternative
		}
	}
	if key := refused(o); key != "" && !t.Given() { // as it is written, for the reason why it is refused
		t.Set = []Setting{{key, o.Value, o.Name}}
	}
	return t
}

// refused returns the key that an option can only be; "" if it can be something else, or needs more than a value.
func refused(o Option) string {
	all := alternatives(o.Name)
	isKey := func(alternative string) bool {
		key, _, _ := strings.Cut(alternative, ", ")
		setting := settingType(key)
		return setting != nil && setting.Kind() != reflect.Map
	}
	if o.Value == "" || slices.ContainsFunc(all, func(alternative string) bool { return !isKey(alternative) }) {
		return ""
	}
	key, _, _ := strings.Cut(all[0], ", ")
	return key
}

// rateStep is one [rate, warm-up, run] of a list.
var rateStep = regexp.MustCompile(`\[\s*([^\s,\[\]]+),\s*([^\s,\[\]]+),\s*([^\s,\[\]]+)\s*\]`)

// ofSteps makes a load in steps of a list of [rate, warm-up, run]. The warm-up is that of the first.
func ofSteps(o Option, steps [][]string) (t Translation) {
	var parts []string
	var sum time.Duration
	for _, step := range steps {
		rate, okRate := withUnit("rate", "load.rate", step[1])
		length, okLength := withUnit("run", "phases.measure", step[3])
		took, err := time.ParseDuration(length)
		if !okRate || !okLength || err != nil {
			t.Meaning = "the SCENARIO, an argument; a step is [rate, warm-up, run], as in [10k, 5s, 30s]"
			return t
		}
		parts, sum = append(parts, "{rate: "+rate+", for: "+length+"}"), sum+took
	}
	t.Words, t.Meaning = []string{"ratesteps"}, "load.arrival, with process: steps; the warm-up is that of the first step"
	warmup, _ := withUnit("warmup", "phases.warmup", steps[0][2])
	for _, set := range [][2]string{
		{"load.rate", "null"}, {"load.arrival.process", "steps"}, {"load.arrival.steps", "[" + strings.Join(parts, ", ") + "]"},
		{"phases.warmup", warmup}, {"phases.measure", unit.Duration(sum).String()},
	} {
		t.Set = append(t.Set, Setting{set[0], set[1], o.Name})
	}
	return t
}

// take takes one thing that an option may be, if that can have the option's value.
func (t *Translation) take(alternative string, o Option) {
	target, _, _ := strings.Cut(alternative, ", ")
	flag, isFlag := strings.CutPrefix(target, "the flag --")
	preset, isPreset := strings.CutPrefix(target, "the preset ")
	command, isCommand := strings.CutPrefix(target, "kafka-bench ")
	switch {
	case strings.HasPrefix(target, "nothing: "):
	case isCommand:
		command, flag, flagged := strings.Cut(command, " --")
		if t.Command = command; flagged {
			t.Flags = append(t.Flags, flag)
		}
	case flag == "expect":
		t.takeLevels(o.Value)
	case target == "load.rate" && canonicalName(o.Name) == "producerrate" && o.Value == "0":
		t.Command = "search" // as there
	case isPreset:
		t.Scenario = preset
	case strings.HasPrefix(theScenario, target) && strings.Contains(o.Value, ":"): // addresses
	case canonicalName(o.Name) == "testname" && target != "name" && filepath.Ext(o.Value) == "":
	case strings.HasPrefix(theScenario, target):
		t.Scenario = o.Value
		for _, preset := range []string{strings.ToLower(o.Value), "e2e-" + strings.ToLower(o.Value)} { // SPIKE and RAMP
			if slices.Contains(Names(), preset) {
				t.Scenario = preset
			}
		}
	case target == "the flag --set": // a value without a key sets nothing
	case flag == "out" && isFileName(o.Value): // there is a folder of runs
	case flag == "quiet":
		t.Flags = append(t.Flags, flag)
	case isFlag && o.Value != "" && !strings.Contains(flag, " "):
		t.Flags = append(t.Flags, flag+"="+o.Value)
	case !isFlag:
		key, value, fixed := strings.Cut(target, ": ")
		if !fixed {
			value = o.Value
		}
		if canonicalName(o.Name) == "messagelengthmax" {
			key = largestSize
		}
		if _, err := unit.ParseCount(value); key == "topic.fill" && err == nil { // how many, and not bytes
			key = "topic.fill_records"
		}
		if key == "backpressure" {
			key += ".controller"
		}
		if setting := settingType(key + ".share"); setting != nil && setting.Kind() != reflect.Map {
			key += ".share"
		}
		if text, ok := withUnit(o.Name, key, value); ok {
			t.Set = append(t.Set, Setting{key, text, o.Name})
		} else if text, ok := listForMatrix(o.Name, key, value); ok {
			t.Set = append(t.Set, Setting{key, text, o.Name})
			t.Meaning = key + " has one value a run; a list is a matrix, with a run for each"
		}
	}
}

// takeLevels takes the bounds of percentiles.
func (t *Translation) takeLevels(value string) {
	expect := func(percentile, most string) {
		t.Flags = append(t.Flags, "expect=e2e_response_time_p"+strings.ReplaceAll(percentile, ".", "_")+" <= "+most)
	}
	for _, level := range percentileBound.FindAllStringSubmatch(value, -1) {
		if strings.Trim(level[2], "0123456789.") == "" { // as k6 has it
			level[2] += "ms"
		}
		expect(level[1], level[2])
	}
	for _, level := range serviceLevel.FindAllStringSubmatch(value, -1) {
		if expect(level[1], level[2]+"ms"); level[3] == "," {
			t.Meaning = "the flag --expect, without the window: a bound is for all of the measured time"
		}
	}
}

// serviceLevel is one [percentile, max ms, window s].
var serviceLevel = regexp.MustCompile(`\[\s*([\d.]+)\s*,\s*([\d.]+)\s*([,\]])`)

// percentileBound is a bound as in p99=10ms, or as in p(99)<500, which is in milliseconds.
var percentileBound = regexp.MustCompile(`\bp\(?([\d.]+)\)?\s*(?:=|:|<=?)\s*(\d[\d.]*[a-zµ]*)`)

// isFileName reports whether a value names a file of results.
func isFileName(value string) bool {
	return slices.Contains([]string{".json", ".html", ".csv", ".txt", ".md", ".xml", ".log", ".png"}, filepath.Ext(value))
}

var nameUnits = []struct{ end, unit string }{
	{"millis", "ms"}, {"milliseconds", "ms"}, {"ms", "ms"}, {"minutes", "m"}, {"mins", "m"}, {"seconds", "s"}, {"secs", "s"},
	{"sec", "s"}, {"bytes", "B"}, {"gb", "GB"}, {"mb", "MB"}, {"kb", "kB"}, {"reportinginterval", "ms"},
	{"intervallength", "ms"},
}

var shortTime = regexp.MustCompile(`linger|poll|wait|timeout|work`)

// recordsAtOnce is a size of a batch that counts records, since no record has so few bytes.
var recordsAtOnce = regexp.MustCompile(`^(?:[2-9]|[1-9][0-9]|[1-4][0-9]{2})$`)

// listForMatrix returns a list of several values, as a matrix has them.
func listForMatrix(name, key, value string) (text string, ok bool) {
	values := strings.Split(value, ",")
	for i, v := range values {
		if values[i], ok = withUnit(name, key, strings.TrimSpace(v)); !ok {
			return "", false
		}
	}
	return "[" + strings.Join(values, ", ") + "]", len(values) > 1
}

// withUnit tries the unit of the option's name, then none, then the usual one of times.
func withUnit(name, key, value string) (text string, ok bool) {
	if key == "load.rate" && value == "0" {
		return "max", true // other tools do not limit then
	}
	if key == largestSize {
		key = "load.record.size"
	}
	setting := settingType(key)
	if value == "" { // a switch
		if value = canonicalWord(key, "true"); value == "true" && (setting == nil || setting.Kind() != reflect.Bool) {
			return "", false
		}
	}
	if key == "load.batch" && recordsAtOnce.MatchString(value) {
		return "", false
	}
	if setting != nil && setting.Kind() == reflect.Map {
		return value, value != "" && !strings.HasSuffix(key, ".client") && !native.Access(key)
	}
	var units []string
	for _, u := range nameUnits {
		if strings.HasSuffix(plainWord(name), u.end) {
			units = append(units, u.unit)
		}
	}
	usual := "s"
	if shortTime.MatchString(key) {
		usual = "ms"
	}
	if word := canonicalName(name); word == "maxredeliverycount" || word == "maxredeliveries" {
		if again, err := strconv.Atoi(value); err == nil {
			value = strconv.Itoa(again + 1)
		}
	}
	for _, unit := range append(units, "", usual, "iB", "e2%", "%") { // 512m is 512MiB, as for containers, and 0.5 is 50%
		if n, err := strconv.ParseFloat(value, 64); unit == "e2%" && err == nil && n > 1 {
			continue
		}
		roots, err := parseYAML([]byte(value + unit))
		if err != nil || len(roots) != 1 {
			continue
		}
		if text, ok := printed(key, roots[0]); ok {
			return text, true
		}
	}
	return "", false
}

// canonical returns n as the settings at path print it, such as 10k/s for 10000; a list, a mapping and a mistake as
// written.
func canonical(path string, n *yaml.Node) string {
	if text, ok := printed(path, n); ok {
		return text
	}
	return flowText(n)
}

// printed returns false if n is a mistake at path.
func printed(path string, n *yaml.Node) (text string, ok bool) {
	t := settingType(path)
	if n = target(n); t == nil || reopens(n) {
		return "", false
	}
	d, v := newDecoder(Options{}), reflect.New(t).Elem()
	if d.value(n, v, path); len(d.mistakes) > 0 {
		return "", false
	}
	if as, err := encode(v); err == nil && as.Kind == yaml.ScalarNode && n.Kind == yaml.ScalarNode {
		return as.Value, true
	}
	return flowText(n), true
}

// settingType returns the type of the value at path, or of the whole mapping of Kafka's settings; nil for an unknown
// path.
func settingType(path string) reflect.Type {
	t := reflect.TypeFor[document]()
	for _, key := range splitPath(path) {
		if t != nil && t.Kind() == reflect.Map {
			return t
		}
		item, listed := strings.CutSuffix(key, firstItem)
		if t = fieldType(t, item); t != nil && listed {
			t = t.Elem()
		}
	}
	return t
}
