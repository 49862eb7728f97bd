package scenario

import (
	"bytes"
	"cmp"
	"maps"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

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
	Set      []string // "load.rate=10k/s"
	Words    []string // the options' names
	Meaning  string   // for people; "" if no option is known
	Without  []string // settings that the scenario can't have, each with the reason
}

// Add adds the parts of u.
func (t *Translation) Add(u Translation) {
	t.Command, t.Scenario = cmp.Or(t.Command, u.Command), cmp.Or(t.Scenario, u.Scenario)
	t.Without = append(t.Without, u.Without...)
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

// OtherOptions returns the options that another tool's text has, in its order: a file of YAML, JSON or properties, or a
// mapping in one line. It returns nil if the text is a scenario, or nothing that is known.
func OtherOptions(text []byte) (options []Option) {
	roots, err := parseYAML(text)
	if err != nil || len(roots) != 1 || target(roots[0]).Kind != yaml.MappingNode {
		return ofProperties(text)
	}
	known := 0
	var visit func(n *yaml.Node)
	visit = func(n *yaml.Node) {
		for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
			key, value := n.Content[i].Value, target(n.Content[i+1])
			switch {
			case plainWord(key) != "name" && (value.Kind == yaml.ScalarNode || listsScalars(value)):
				o := Option{Name: key, Value: scalars(value)}
				if options = append(options, o.properties()...); synonym(key) != "" {
					known++
				}
			case !slices.Contains(keysOf(reflect.TypeFor[document]()), key):
				visit(value)
			}
		}
	}
	if visit(target(roots[0])); known < 2 {
		return nil
	}
	return options
}

func ofProperties(text []byte) []Option {
	options := Option{Value: string(text)}.properties()
	known := slices.DeleteFunc(slices.Clone(options), func(o Option) bool { return synonym(o.Name) == "" && len(elsewhere(o.Name)) == 0 })
	if len(known) < 2 {
		return nil
	}
	return options
}

func listsScalars(n *yaml.Node) bool {
	return n.Kind == yaml.SequenceNode && !slices.ContainsFunc(n.Content, func(item *yaml.Node) bool { return item.Kind != yaml.ScalarNode })
}

// scalars returns a scalar, or those of a list with commas between.
func scalars(n *yaml.Node) string {
	if n.Kind == yaml.ScalarNode {
		return n.Value
	}
	var all []string
	for _, item := range n.Content {
		all = append(all, item.Value)
	}
	return strings.Join(all, ",")
}

// properties returns the options in a value with a line for each, or else o.
func (o Option) properties() (options []Option) {
	prefix := ""
	if synonym(o.Name) == topicConfig {
		prefix = topicConfig + "."
	}
	for line := range strings.Lines(o.Value) {
		if name, value, is := strings.Cut(strings.TrimSpace(line), "="); is && !strings.HasPrefix(name, "#") {
			options = append(options, Option{Name: prefix + strings.TrimSpace(name), Value: strings.TrimSpace(value)})
		}
	}
	if len(options) == 0 {
		return []Option{o}
	}
	return options
}

const topicConfig = "topic.config"

var pair = regexp.MustCompile(`["']?([\w.-]+)["']?\s*(?:=|:\s)\s*["']?([^,;\s"'{}]*)["']?`)

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
	t.Meaning = Meaning(o.Name)
	if plainWord(o.Name) == "consumerbacklogsizegb" && o.Value == "0" { // no backlog
		return t
	}
	t.Words = []string{o.Name}
	for _, alternative := range alternatives(o.Name) {
		if t.take(alternative, o); t.Given() {
			break
		}
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
		t.Command, _, _ = strings.Cut(command, " ")
	case target == "load.rate" && plainWord(o.Name) == "producerrate" && o.Value == "0":
		t.Command = "search" // as there
	case isPreset:
		t.Scenario = preset
	case strings.HasPrefix(theScenario, target):
		t.Scenario = o.Value
		for _, preset := range []string{strings.ToLower(o.Value), "e2e-" + strings.ToLower(o.Value)} { // SPIKE and RAMP
			if slices.Contains(Names(), preset) {
				t.Scenario = preset
			}
		}
	case target == "the flag --set": // a value without a key sets nothing
	case flag == "out" && filepath.Ext(o.Value) != "": // a file
	case isFlag && o.Value != "" && !strings.Contains(flag, " "):
		t.Flags = append(t.Flags, flag+"="+o.Value)
	case !isFlag:
		key, value, fixed := strings.Cut(target, ": ")
		if !fixed {
			value = o.Value
		}
		if setting := settingType(key + ".share"); setting != nil && setting.Kind() != reflect.Map {
			key += ".share"
		}
		if text, ok := withUnit(o.Name, key, value); ok {
			t.Set = append(t.Set, key+"="+text)
		}
	}
}

var nameUnits = []struct{ end, unit string }{
	{"ms", "ms"}, {"millis", "ms"}, {"minutes", "m"}, {"seconds", "s"}, {"gb", "GB"}, {"bytes", "B"},
	{"reportinginterval", "ms"},
}

var shortTime = regexp.MustCompile(`linger|poll|wait|timeout|work`)

// recordsAtOnce is a size of a batch that counts records, since no record has so few bytes.
var recordsAtOnce = regexp.MustCompile(`^(?:[2-9]|[1-9][0-9]|[1-4][0-9]{2})$`)

// withUnit tries the unit of the option's name, then none, then the usual one of times.
func withUnit(name, key, value string) (text string, ok bool) {
	if key == "load.rate" && value == "0" {
		return "max", true // other tools do not limit then
	}
	if key == "load.batch" && recordsAtOnce.MatchString(value) {
		return "", false
	}
	if setting := settingType(key); setting != nil && setting.Kind() == reflect.Map {
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
	if plainWord(name) == "maxredeliverycount" || plainWord(name) == "maxredeliveries" {
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

// firstItem ends a key of a list whose only item the options describe.
const firstItem = "[0]"

// companions are the settings that a setting needs, by the beginning of its path. A preset with the key has its own.
var companions = []struct{ with, set, key string }{
	{"backpressure.max_lag", "backpressure.controller=hysteresis", "controller:"},
	{"load.arrival.peak", "load.arrival.process=burst", "arrival:"},
	{"load.round", "load.rate=max", "load:"},
	{"topic.config.min.insync.replicas", "topic.replication=3", "replication:"},
	{"load.idempotent=true", "load.acks=all", "load:"},
	{"consume.queue", "consume.queue.engine=markers", "queue:"},
	{"consume.queue", "consume.parallel=consumer", "queue:"},
	{"consume.queue.threads", "consume.consumers=1", "queue:"},
}

// Complete returns t with a scenario, and with what its settings need in it.
func (t Translation) Complete() Translation {
	t.useQueue()
	named := t.Scenario != ""
	if !named {
		t.Scenario = t.base()
	}
	text, _ := PresetText(t.Scenario) // nil for a file
	if t.Scenario == "consume-only" {
		t.fillTopic()
	}
	fills := t.sets("topic.existing=null")
	existing := t.sets("topic.existing") || t.Scenario == "consume-only"
	all := slices.Clone(t.Set)
	for _, c := range companions {
		key, _, _ := strings.Cut(c.set, "=")
		if t.sets(c.with) && !t.sets(key) && (!named || text != nil && !bytes.Contains(text, []byte(c.key))) {
			all = append(all, c.set)
		}
	}
	t.Set = nil
	for _, set := range all {
		switch key, value, _ := strings.Cut(set, "="); {
		case t.Scenario == "consume-only" && key == "topic.name":
			t.Set = append(t.Set, "topic.existing="+value)
		case t.Command == "search" && (key == "load.rate" || key == "repeat"):
			t.Without = append(t.Without, key+", because a search finds the rate")
		case t.Scenario == "consume-only" && key == "topic.partitions" && !fills:
			t.Without = append(t.Without, key+", because an existing topic has its own")
		case t.Scenario == "consume-only" && strings.HasPrefix(key, "load.") && !fills:
			t.Without = append(t.Without, key+", because an existing topic is read to its end")
		case key == "consume.from" && !existing:
			t.Without = append(t.Without, key+", because a new topic is read from its first record")
		case key == "load.round" && t.sets("load.rate=") && !t.sets("load.rate=max"):
			t.Without = append(t.Without, key+", because at a rate each record is sent at its own time")
		case strings.HasPrefix(key, "load.records") && bytes.Contains(text, []byte(" volume: ")):
			t.Set = append(t.Set, set, "load.volume=null")
		case key == "load.records" && bytes.Contains(text, []byte(" fill: ")) && bytes.Contains(text, []byte("  producers: 0\n")):
			t.Set = append(t.Set, "topic.fill_records="+value, "topic.fill=null")
		case key == "consume.consumers" && t.Scenario == "produce-only": // threads
			t.Set = append(t.Set, "load.producers="+value)
		case key == "load.record.size" && t.sets(key): // messageLength and messageLengthMax
			i := slices.IndexFunc(t.Set, func(set string) bool { return strings.HasPrefix(set, key+"=") })
			t.Set[i] = key + "={uniform: [" + strings.Join(ascending(strings.TrimPrefix(t.Set[i], key+"="), value), ", ") + "]}"
		default:
			t.Set = slices.DeleteFunc(t.Set, func(earlier string) bool { return strings.HasPrefix(earlier, key+"=") })
			t.Set = append(t.Set, set)
		}
	}
	t.joinItems()
	return t
}

// useQueue adds the queue that options of a queue's tool speak of, and reads its machines and threads.
func (t *Translation) useQueue() {
	words := make(map[string]bool)
	for _, word := range t.Words {
		words[plainWord(word)] = true
	}
	if (words["markertopic"] || words["redeliverygroupid"] || words["redeliveryconsumergroupid"]) && !t.sets("consume.queue") {
		t.Set = append(t.Set, "consume.queue.engine=markers")
	}
	if words["nodes"] && words["threads"] && !t.sets("consume.queue") {
		t.Set = append(t.Set, "consume.queue.engine=plain")
	}
	if !t.sets("consume.queue") {
		return
	}
	if t.Scenario == "produce-only" && !t.sets("consume.queue.engine") { // a sender's batch
		for i, set := range t.Set {
			if n, is := strings.CutPrefix(set, "consume.queue.batch="); is {
				t.Set[i] = "load.round=" + n
			}
		}
		return
	}
	if t.Scenario == "produce-only" { // what sender and producer stand for
		t.Scenario = ""
	}
	for i, set := range t.Set {
		switch key, value, _ := strings.Cut(set, "="); {
		case key == "cluster.brokers" && words["nodes"]:
			t.Set[i] = "consume.consumers=" + value
		case key == "consume.consumers" && words["nodes"] && words["threads"]:
			t.Set[i] = "consume.queue.threads=" + value
		}
	}
}

// fillTopic makes a run that reads a topic fill it first, if the options say how many records it has and not its name.
func (t *Translation) fillTopic() {
	if !t.sets("load.records=") || t.sets("topic.name=") || t.sets("topic.existing=") {
		return
	}
	for i, set := range t.Set {
		if count, is := strings.CutPrefix(set, "load.records="); is {
			t.Set[i] = "topic.fill_records=" + count
		}
	}
	t.Set = append(t.Set, "topic.existing=null")
}

func ascending(sizes ...string) []string {
	slices.SortFunc(sizes, func(a, b string) int {
		x, _ := unit.ParseSize(a) // a mistake is said with the command line
		y, _ := unit.ParseSize(b)
		return cmp.Compare(x, y)
	})
	return sizes
}

// sets reports whether a setting begins with path.
func (t Translation) sets(path string) bool {
	return slices.ContainsFunc(t.Set, func(set string) bool { return strings.HasPrefix(set, path) })
}

// base returns the preset that is nearest to what the options' tool does.
func (t Translation) base() string {
	for _, word := range t.Words {
		preset := presetOfWord[plainWord(word)]
		if preset != "" && (preset != "produce-only" || !t.sets("consume.")) {
			return preset
		}
	}
	loads := slices.ContainsFunc(t.Set, func(set string) bool {
		return strings.HasPrefix(set, "load.") && !strings.HasPrefix(set, "load.records")
	})
	switch consumes := t.sets("consume."); {
	case t.sets("topic.") && !loads && !t.sets("consume.queue") && (consumes || t.sets("load.records")):
		return "consume-only"
	case t.sets("load.records") && !consumes:
		return "produce-only"
	case t.sets("consume.changes"):
		return "recovery"
	}
	return "baseline"
}

// joinItems makes consume.changes=[{at: 30s, work: 0s}] of consume.changes[0].at=30s and consume.changes[0].work=0s.
func (t *Translation) joinItems() {
	var rest []string
	items := make(map[string][]string)
	for _, set := range t.Set {
		key, value, _ := strings.Cut(set, "=")
		list, item, listed := strings.Cut(key, firstItem+".")
		if !listed {
			rest = append(rest, set)
			continue
		}
		items[list] = append(items[list], item+": "+value)
	}
	for _, list := range slices.Sorted(maps.Keys(items)) {
		parts := items[list]
		slices.Sort(parts)
		rest = append(rest, list+"=[{"+strings.Join(parts, ", ")+"}]")
	}
	t.Set = rest
}
