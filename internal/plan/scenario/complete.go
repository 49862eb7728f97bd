package scenario

import (
	"bytes"
	"cmp"
	"errors"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"kafkabench.example/kafka-bench/internal/plan/unit"
)

// firstItem ends a key of a list whose only item the options describe.
const firstItem = "[0]"

// largestSize ends the key of the largest size of records, whose smallest size is another option.
const largestSize = "load.record.size.largest"

// companions are the settings that a setting needs, by the beginning of its path. A preset with the key has its own.
var companions = []struct{ with, set, key string }{
	{"backpressure.max_lag", "backpressure.controller=hysteresis", "controller:"},
	{"load.arrival.peak", "load.arrival.process=burst", "arrival:"},
	{"load.round", "load.rate=max", "load:"},
	{"topic.config.min.insync.replicas", "topic.replication=3", "replication:"},
	{"load.idempotent=true", "load.acks=all", "load:"},
	{"consume.queue.visibility", "consume.queue.engine=markers", "queue:"},
	{"consume.queue.max_deliveries", "consume.queue.engine=markers", "queue:"},
	{"consume.queue.dead_letter", "consume.queue.engine=markers", "queue:"},
	{"consume.queue.drop", "consume.queue.engine=markers", "queue:"},
	{"consume.queue", "consume.queue.engine=plain", "queue:"},
	{"consume.queue", "consume.parallel=consumer", "queue:"},
	{"consume.queue.threads", "consume.consumers=1", "queue:"},
}

// defaultsElsewhere are what a tool does without an option, by the word that only this tool has.
var defaultsElsewhere = map[string][]string{
	"produceronly": {
		"load.rate=10k/s", "load.producers=8", "load.record.size=512B", "load.compression=snappy", "topic.partitions=12",
		"phases.measure=30s",
	},
	"consumeronly": {"consume.consumers=4"},
}

// Complete returns t with a scenario, and with what its settings need in it. The scenario stays "" if the options do
// not say what the job is.
func (t Translation) Complete() Translation {
	named := t.Scenario != ""
	t.useQueue()
	t.useConsumerLimit()
	if t.Scenario = cmp.Or(t.Scenario, t.base()); t.Scenario == "" {
		return t
	}
	for _, word := range t.Words {
		for _, set := range defaultsElsewhere[word] {
			t.otherwise(set)
		}
	}
	text, _ := PresetText(t.Scenario) // nil for a file
	rule := func(Setting) bool { return true }
	switch {
	case t.Scenario == "consume-only":
		t.fillTopic()
		rule = t.toRead
	case bytes.Contains(text, []byte("  consumers: 0\n")) && !readers.Match(text):
		rule = t.toProduce
	}
	all := t.Set
	t.Set = nil
	for _, s := range all {
		if rule(s) {
			t.place(s, all)
		}
	}
	for _, c := range companions {
		if t.Sets(c.with) && (!named || text != nil && !bytes.Contains(text, []byte(c.key))) {
			t.otherwise(c.set)
		}
	}
	t.countProducers(text)
	t.endWindow(text)
	t.joinSizes()
	t.joinItems()
	t.makeMatrix()
	t.chooseVariants()
	t.fitBatch()
	return t
}

// readers is in a preset that has consumers.
var readers = regexp.MustCompile(`\bconsumers: [1-9]`)

// otherwise adds a setting, "key=value", whose key no option gave.
func (t *Translation) otherwise(set string) {
	if key, value, _ := strings.Cut(set, "="); !t.Sets(key + "=") {
		t.Set = append(t.Set, Setting{Key: key, Value: value})
	}
}

func (t *Translation) without(s Setting, because string) bool {
	t.Remarks = append(t.Remarks, "without "+s.Key+", because "+because)
	return false
}

// place adds a setting, in place of an earlier one with its key.
func (t *Translation) place(s Setting, all []Setting) {
	others := Translation{Set: all}
	existing := others.Sets("topic.existing") || t.Scenario == "consume-only"
	switch {
	case t.Command == "search" && (s.Key == "load.rate" || s.Key == "repeat"):
		t.without(s, "a search finds the rate")
	case t.Command == "search" && s.Key == "phases.measure":
		t.Flags = slices.DeleteFunc(t.Flags, isProbe)
		t.Flags = append(t.Flags, "probe="+s.Value)
		if length, err := unit.ParseDuration(s.Value); err == nil && length > confirmed {
			t.Flags = append(t.Flags, "confirm="+s.Value)
		}
	case s.Key == "consume.from" && !existing:
		t.without(s, "a new topic is read from its first record")
	case s.Key == "load.round" && others.Sets("load.rate=") && !others.Sets("load.rate=max"):
		t.without(s, "at a rate each record is sent at its own time")
	default:
		t.Set = with(t.Set, s)
	}
}

// toRead decides about a setting of the preset consume-only.
func (t *Translation) toRead(s Setting) bool {
	fills := slices.ContainsFunc(t.Set, isNull) || t.fills
	switch {
	case s.Key == "topic.name" && !fills:
		t.place(Setting{"topic.existing", s.Value, s.Word}, nil)
		return false
	case fills && (s.Key == "load.record.size" || s.Key == "load.record.payload" || s.Key == largestSize):
	case s.Key == "load.records":
		return t.without(s, "an existing topic is read to its end; from consume.from: end, for phases.measure")
	case strings.HasPrefix(s.Key, "load.") || strings.HasPrefix(s.Key, "backpressure"):
		return t.without(s, "nothing is sent while the topic is read")
	case strings.HasPrefix(s.Key, "topic.") && s.Key != "topic.existing" && !fills:
		return t.without(s, "an existing topic has its own")
	}
	return true
}

func isNull(s Setting) bool { return s.Key == "topic.existing" && s.Value == "null" }

// toProduce decides about a setting of a preset without consumers.
func (t *Translation) toProduce(s Setting) bool {
	word := canonicalName(s.Word)
	switch {
	case slices.Contains([]string{"threads", "numthreads", "workers", "concurrency"}, word) && strings.HasPrefix(s.Key, "consume."):
		t.place(Setting{"load.producers", s.Value, s.Word}, nil)
	case s.Key == "consume.queue.batch" && !strings.Contains(word, "receive"): // a sender's
		t.place(Setting{"load.round", s.Value, s.Word}, nil)
	case strings.HasPrefix(s.Key, "consume."):
		t.without(s, "nobody reads")
	default:
		return true
	}
	return false
}

func (t *Translation) rekey(from, to string) {
	for i, s := range t.Set {
		if s.Key == from {
			t.Set[i].Key = to
		}
	}
}

// endWindow makes the window end by what the options say, and not by what the preset does.
func (t *Translation) endWindow(text []byte) {
	counts := t.Sets("load.records")
	switch {
	case bytes.Contains(text, []byte(" volume: ")) && (counts || t.Sets("phases.measure=")):
		t.otherwise("load.volume=null")
	case t.Sets("load.records=") && bytes.Contains(text, []byte(" fill: ")) && bytes.Contains(text, []byte("  producers: 0\n")):
		t.rekey("load.records", "topic.fill_records")
		t.otherwise("topic.fill=null")
	case t.Scenario == "consume-only" && !t.Sets("consume.from=end"):
		t.otherwise("phases.measure=1h") // it ends before, with the last record
	}
}

// useQueue adds the queue that options of a queue's tool speak of, and reads its machines and threads.
func (t *Translation) useQueue() {
	has := func(word string) bool { return slices.Contains(t.Words, word) }
	switch {
	case t.Sets("consume.queue"):
	case has("markertopic") || has("redeliverygroupid") || has("redeliveryconsumergroupid"):
		t.otherwise("consume.queue.engine=markers")
	case has("nodes") && has("threads"):
		t.otherwise("consume.queue.engine=plain")
	default:
		return
	}
	for i, s := range t.Set {
		switch word := plainWord(s.Word); {
		case s.Key == "cluster.brokers" && word == "nodes":
			t.Set[i].Key = "consume.consumers"
		case s.Key == "consume.consumers" && (word == "threads" || word == "numthreads"):
			t.Set[i].Key = "consume.queue.threads"
		}
	}
}

// confirmed is the time that a search confirms a rate for, if no flag says it.
const confirmed = unit.Duration(30 * time.Second)

func isProbe(flag string) bool {
	return strings.HasPrefix(flag, "probe=") || strings.HasPrefix(flag, "confirm=")
}

// countProducers makes the total of the producers, where the options have nodes and the threads of each. If they say no
// side, both are meant.
func (t *Translation) countProducers(preset []byte) {
	sends := t.Scenario != "consume-only" && !bytes.Contains(preset, []byte("  producers: 0\n"))
	var nodes, threads string
	for _, s := range t.Set {
		switch word := canonicalName(s.Word); {
		case s.Key == "load.processes" && word != "processes", s.Key == "consume.consumers" && word == "nodes" && nodes == "":
			nodes = s.Value
		case s.Key == "load.producers" && slices.Contains(ofEachNode, word):
			threads = s.Value
		case s.Key == "consume.queue.threads" && slices.Contains(ofEachNode, word) && threads == "":
			threads = s.Value
		}
	}
	n, err := strconv.Atoi(nodes)
	each, none := strconv.Atoi(cmp.Or(threads, "1"))
	if !sends || err != nil || none != nil {
		return
	}
	t.otherwise("load.processes=" + nodes)
	t.otherwise("load.producers=" + nodes)
	for i, s := range t.Set {
		if s.Key == "load.producers" && (s.Word == "" || slices.Contains(ofEachNode, canonicalName(s.Word))) {
			t.Set[i].Value = strconv.Itoa(n * each)
		}
	}
}

// ofEachNode are the options that say how many threads one node has.
var ofEachNode = []string{"senderthreads", "senderconcurrency", "threads", "numthreads", "concurrency"}

// makeMatrix makes an axis of each setting that has several values, with a run for each.
func (t *Translation) makeMatrix() {
	for i, s := range t.Set {
		of := settingType(s.Key)
		if strings.HasPrefix(s.Value, "[") && of != nil && of.Kind() != reflect.Slice {
			t.Set[i].Key = "matrix." + s.Key
		}
	}
}

// useConsumerLimit takes the preset that reads with several numbers of consumers, and with confined ones, if no topic is
// named.
func (t *Translation) useConsumerLimit() {
	reads := t.Scenario == "consume-only" || t.Scenario == "" && !t.Sets("load.rate") && !t.Sets("load.producers")
	limits := t.Sets("consume.consumers=[") || t.Sets("consume.cpu") || t.Sets("consume.memory")
	if reads && limits && !t.Sets("topic.name=") && !t.Sets("topic.existing=") && !t.Sets("consume.queue") {
		t.Scenario = "consumer-limit"
	}
}

// recordsToFill is how many records a queue's topic gets if no option says it.
const recordsToFill = "1000000"

// fillTopic makes a run that reads a topic fill it first, if a queue reads it, which cannot use an existing topic, or if
// the options say how many records it has and not its name.
func (t *Translation) fillTopic() {
	queue := t.Sets("consume.queue")
	if !queue && !t.Sets("topic.fill") && (!t.Sets("load.records=") || t.Sets("topic.name=") || t.Sets("topic.existing=")) {
		return
	}
	t.Set = slices.DeleteFunc(t.Set, func(s Setting) bool { return s.Key == "topic.existing" })
	t.rekey("load.records", "topic.fill_records")
	t.rekey("load.records_each", "topic.fill_records")
	if queue && !t.Sets("topic.fill") {
		t.otherwise("topic.fill_records=" + recordsToFill)
	}
	t.otherwise("topic.existing=null")
	t.fills = true
}

// joinSizes makes a range of the sizes of messageLength and messageLengthMax.
func (t *Translation) joinSizes() {
	largest := slices.IndexFunc(t.Set, func(s Setting) bool { return s.Key == largestSize })
	size := slices.IndexFunc(t.Set, func(s Setting) bool { return s.Key == "load.record.size" })
	switch {
	case largest >= 0 && size >= 0:
		t.Set[size].Value = "{uniform: [" + t.Set[size].Value + ", " + t.Set[largest].Value + "]}"
		t.Set = slices.Delete(t.Set, largest, largest+1)
	case largest >= 0:
		t.Set[largest].Key = "load.record.size"
	}
}

// with returns the settings with s, and without an earlier one of its key.
func with(set []Setting, s Setting) []Setting {
	others := slices.DeleteFunc(slices.Clone(set), func(earlier Setting) bool { return earlier.Key == s.Key })
	return append(others, s)
}

// fitBatch raises the batch, and what the topic takes, to the size of a record that is larger.
func (t *Translation) fitBatch() {
	if !t.Sets("load.record.size=") && !t.Sets("load.batch=") || !slices.Contains(Names(), t.Scenario) || t.fits(t.Set) {
		return
	}
	var typed unit.Size
	for _, s := range t.Set {
		if s.Key == "load.batch" {
			var err error
			if typed, err = unit.ParseSize(s.Value); err != nil {
				return
			}
		}
	}
	for bytes := cmp.Or(typed, 64<<10); bytes <= 64<<20; bytes = max(2*bytes, 64<<10) {
		set := t.Set
		if bytes != typed {
			set = with(set, Setting{Key: "load.batch", Value: bytes.String()})
		}
		if !t.fits(set) && !t.Sets("topic.existing") && (bytes == typed || !t.Sets(maxMessageBytes)) {
			set = with(set, Setting{Key: maxMessageBytes, Value: strconv.FormatInt(int64(bytes), 10)})
		}
		if t.fits(set) {
			if typed > 0 && bytes != typed {
				t.without(Setting{Key: "load.batch"}, "it holds no record of this size")
			}
			t.Set = set
			return
		}
	}
}

const maxMessageBytes = topicConfig + ".max.message.bytes"

// fits reports whether the settings have no mistake about the sizes of records and batches.
func (t Translation) fits(set []Setting) bool {
	o := Options{}
	for _, s := range set {
		o.Set = append(o.Set, s.String())
	}
	_, err := ReadSuite(t.Scenario, o)
	var mistakes Mistakes
	errors.As(err, &mistakes)
	return !slices.ContainsFunc(mistakes, func(m Mistake) bool { return m.Path == "load.record.size" || m.Path == "load.batch" })
}

// Sets reports whether a setting begins with path.
func (t Translation) Sets(path string) bool {
	return slices.ContainsFunc(t.Set, func(s Setting) bool { return strings.HasPrefix(s.String(), path) })
}

// base returns the preset that is nearest to what the options' tool does; "" if they do not say it.
func (t Translation) base() string {
	if t.Sets("consume.changes[0].at") {
		return "recovery"
	}
	works := t.Sets("consume.work") || t.Sets("consume.queue") || t.Sets("backpressure")
	for _, word := range t.Words {
		preset := presetOfWord[word]
		if preset != "" && (preset != "produce-only" || !t.Sets("consume.")) && (preset != "e2e" || !works) {
			return preset
		}
	}
	if t.Command == "search" {
		return "baseline"
	}
	loads := slices.ContainsFunc(t.Set, func(s Setting) bool {
		return strings.HasPrefix(s.Key, "load.") && !strings.HasPrefix(s.Key, "load.records") && s.Key != "load.client" &&
			!(t.Sets("topic.fill") && strings.HasPrefix(s.Key, "load.record."))
	})
	reads := t.Sets("consume.group=") || t.Sets("consume.fetch") || t.Sets("consume.from")
	switch consumes := t.Sets("consume."); {
	case !loads && !works && (t.Sets("topic.") || reads) && (consumes || t.Sets("load.records")):
		return "consume-only"
	case t.Sets("load.records") && !consumes:
		return "produce-only"
	case loads || works || t.Sets("phases."):
		return "baseline"
	}
	return ""
}

// joinItems makes consume.changes=[{at: 30s, work: 0s}] of consume.changes[0].at=30s and consume.changes[0].work=0s.
func (t *Translation) joinItems() {
	parts, word := []string(nil), ""
	t.Set = slices.DeleteFunc(t.Set, func(s Setting) bool {
		item, listed := strings.CutPrefix(s.Key, "consume.changes"+firstItem+".")
		if listed {
			parts, word = append(parts, item+": "+s.Value), s.Word
		}
		return listed
	})
	if slices.Sort(parts); len(parts) > 0 && strings.HasPrefix(parts[0], "at: ") { // else there is no change
		t.Set = append(t.Set, Setting{"consume.changes", "[{" + strings.Join(parts, ", ") + "}]", word})
	}
}
