package scenario

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func mistakes(t *testing.T, text string, overrides ...string) []string {
	t.Helper()
	_, err := Parse("f.yaml", []byte(text), overrides...)
	if err == nil {
		return nil
	}
	var list Mistakes
	if !errors.As(err, &list) {
		t.Fatalf("%q: the error %v is not Faults", text, err)
	}
	return strings.Split(err.Error(), "\n")
}

func check(t *testing.T, cases [][2]string) {
	t.Helper()
	for _, c := range cases {
		got := mistakes(t, c[0])
		if len(got) != 1 || got[0] != c[1] {
			t.Errorf("%q:\n got %s\nwant %s", c[0], strings.Join(got, "\n     "), c[1])
		}
	}
}

func TestSyntaxMistakes(t *testing.T) {
	const empty = "f.yaml:1:1: it is empty; a scenario has at least one key, as in load: {rate: 10k/s}; show quick prints a whole one"
	check(t, [][2]string{
		{"", empty},
		{"# nothing\n", empty},
		{"---\n", empty},
		{"name: a\nload: [\n", "f.yaml:3:1: it is not YAML: while parsing a flow node: did not find expected node content"},
		{"name: a\ndescription: b: c\n", `f.yaml:2:15: it is not YAML: mapping values are not allowed in this context; check the indentation, and put a text with ": " in it into quotes`},
		{"load:\n\trate: 1k/s\n", "f.yaml:2:1: it is not YAML: while scanning for the next token: found character that cannot start any token; indent with spaces, not tabs, and put a text that begins with @, % or a backtick into quotes"},
		{"load: *base\n", "f.yaml:1:7: it is not YAML: unknown anchor 'base' referenced; an anchor (&name) stands before the alias (*name) that uses it"},
		{"name: a\n---\nname: b\n", "f.yaml:3:1: a second document begins here; a file holds one scenario"},
		{"name: a\nb: \xff\n", "f.yaml:2:4: the byte 0xff is not UTF-8; save the file as UTF-8 text"},
		{"name: é\x01\n", "f.yaml:1:8: the control character U+0001 is not text; save the file as UTF-8 text"},
		{"[a, b]\n", "f.yaml:1:1: it is a list, not a mapping; write its keys: name, description, driver, cluster, topic, load, consume, phases, backpressure, faults, sampling, repeat, question, answer, by, agents, quick, variants, matrix, order, seed"},
		{"hello\n", `f.yaml:1:1: it is the single value "hello", not a mapping; write its keys: name, description, driver, cluster, topic, load, consume, phases, backpressure, faults, sampling, repeat, question, answer, by, agents, quick, variants, matrix, order, seed`},
	})
}

func TestStructureMistakes(t *testing.T) {
	const topicKeys = "the keys of topic are existing, name, partitions, replication, fill, fill_records, fill_records_each, fill_producers, config"
	const sizeRemedy = "write one size, or exactly one of uniform, normal and list, as in: size: {uniform: [64B, 1KiB]}"
	check(t, [][2]string{
		{"topic: {partition: 3}", "f.yaml:1:9: topic.partition: unknown key; did you mean partitions?"},
		{"topic: {acks: 1}", "f.yaml:1:9: topic.acks: unknown key; it belongs at load.acks or consume.queue.acks"},
		{"topic: {RepliCation: 3}", "f.yaml:1:9: topic.RepliCation: unknown key; did you mean replication?"},
		{"topic: {maxLag: 3}", "f.yaml:1:9: topic.maxLag: unknown key; it belongs at backpressure.max_lag"},
		{"topic: {batch-size: 3}", "f.yaml:1:9: topic.batch-size: unknown key; here that is load.batch, or consume.queue.batch"},
		{"thresholds: {p99: 1}", "f.yaml:1:1: thresholds: unknown key; here that is the flag --expect"},
		{"expect: [lost = 0]", "f.yaml:1:1: expect: unknown key; here that is the flag --expect"},
		{"topic: {min.insync.replicas: 3}", "f.yaml:1:9: topic.min.insync.replicas: unknown key; here that is topic.config.min.insync.replicas"},
		{"topic: {zebra: 1}", "f.yaml:1:9: topic.zebra: unknown key; " + topicKeys},
		{"topic: {partitions: 3, partitions: 3}", "f.yaml:1:24: topic.partitions: it is given twice, first at line 1; keep one of them"},
		{"topic: {[a]: 3}", "f.yaml:1:9: topic: a key is a list, not a word; write key: value"},
		{"topic: 12", `f.yaml:1:8: topic: it is the single value "12", not a mapping; here that is topic.name, of a new one, or topic.existing; write its keys: existing, name, partitions, replication, fill, fill_records, fill_records_each, fill_producers, config`},
		{"topic:", "f.yaml:1:7: topic: it has no value; give it one, or leave the key out"},
		{"topic: {partitions: !!int 3}", "f.yaml:1:21: topic.partitions: the tag !!int has no meaning here; leave the tag out"},
		{"topic: {partitions: 3.5}", `f.yaml:1:21: topic.partitions: "3.5" is not a whole number; write a whole number, as in 12`},
		{"topic: {partitions: 5m}", `f.yaml:1:21: topic.partitions: "5m" is not a whole number; write a whole number, as in 12`},
		{"topic: {partitions: '5,000'}", `f.yaml:1:21: topic.partitions: "5,000" is not a whole number; write a whole number, without separators: 5000`},
		{"topic: {partitions: 99999999999999999999}", `f.yaml:1:21: topic.partitions: "99999999999999999999" is not a whole number; write a whole number, as in 12`},
		{"topic: {partitions: [3]}", "f.yaml:1:21: topic.partitions: it is a list, not a single value; to run with each of them write matrix: {topic.partitions: [3]}"},
		{"topic: {config: 3}", `f.yaml:1:17: topic.config: it is the single value "3", not a mapping; write it as {name: value}, with Kafka's names for its settings`},
		{"topic: {config: {a: [1]}}", "f.yaml:1:21: topic.config.a: it is a list, not a single value; write it as Kafka's own files do"},
		{"cluster: {jvm: -Xss1m}", `f.yaml:1:16: cluster.jvm: it is the single value "-Xss1m", not a list; write it as [first, second]`},
		{"load: {record: {seed: -1}}", `f.yaml:1:23: load.record.seed: "-1" is not a whole number; write a whole number from 0 to 18446744073709551615`},
		{"load: {record: {keys: {distribution: zipf, skew: .nan}}}", `f.yaml:1:50: load.record.keys.skew: ".nan" is not a number; write a number, as in 1.1`},
		{"load: {record: {size: [1B]}}", "f.yaml:1:23: load.record.size: it is a list, not a size; " + sizeRemedy},
		{"load: {record: {size: {list: [64B], normal: [64B, 1B]}}}", "f.yaml:1:23: load.record.size: it has 2 keys; " + sizeRemedy},
		{"load: {record: {size: {unifrom: [64B, 1KiB]}}}", "f.yaml:1:24: load.record.size.unifrom: unknown key; did you mean uniform?"},
		{"load: {record: {size: {uniform: [64B, 1KB]}}}", `f.yaml:1:39: load.record.size.uniform[1]: size "1KB": write 1kB (1,000 bytes each) or 1KiB (1,024 bytes each)`},
		{"load: {idempotent: 1}", `f.yaml:1:20: load.idempotent: "1" is not a truth value; write true or false`},
		{"load: {rate: '10,000'}", `f.yaml:1:14: load.rate: rate "10,000": a number has no separators; write 10000/s`},
		{"load: {arrival: [poisson]}", "f.yaml:1:17: load.arrival: it is a list, not a mapping; write its keys: process, peak, length, period, to, over, at, steps; or the name of a process, as in: arrival: poisson"},
		{"consume: {work: 4}", `f.yaml:1:17: consume.work: duration "4": it has no unit; write 4s or 4ms`},
		{"consume: {commit: often}", `f.yaml:1:19: consume.commit: duration "often": not a duration; write it as 5ms, 2s or 1m30s, or batch to commit after each batch`},
		{"consume: {commit: [1s]}", "f.yaml:1:19: consume.commit: it is a list, not a single value; to run with each of them write matrix: {consume.commit: [1s]}"},
		{"phases: {measure: 40}", `f.yaml:1:19: phases.measure: duration "40": it has no unit; write 40s or 40ms`},
		{"consume:\n  work: &w {time: 4ms}\n  changes:\n    - {at: 1s, work: {<<: *w, time: 2ms}}\n",
			"f.yaml:4:23: consume.changes[0].work.<<: merge keys are not supported; write the values out, or use an alias for one whole value"},
		{"name: a\nmatrix: {load.acks: [0, 1]}",
			"f.yaml:2:1: matrix: it makes a suite of this scenario, and one scenario is wanted here; give it to the run command, or leave it out (--set matrix=null)"},
	})
}

func TestUnknownKeys(t *testing.T) {
	for key, want := range map[string]string{
		"consumers": "it belongs at consume.consumers", "acks": "it belongs at load.acks", "maxLag": "it belongs at backpressure.max_lag",
		"config": "it belongs at topic.config or cluster.config", "Load": "did you mean load?", "laod": "did you mean load?",
		"throughput": "here that is load.rate", "replicas": "here that is topic.replication", "library": "here that is driver", "numConsumers": "here that is consume.consumers", "duration": "here that is phases.measure", "message-size": "here that is load.record.size",
		"batch-size": "here that is load.batch, or consume.queue.batch", "batch.size": "here that is load.batch, or consume.queue.batch", "msg-size": "here that is load.record.size",
		"messageSize": "here that is load.record.size", "producerRate": "here that is load.rate", "bootstrap.servers": "here that is the flag --brokers",
		"num-records": "here that is load.records", "max.in.flight.requests.per.connection": "here that is load.in_flight",
		"zebra": "the keys of a scenario are ",
	} {
		got := strings.Join(mistakes(t, key+": 3"), "\n")
		if !strings.HasPrefix(got, "f.yaml:1:1: "+key+": unknown key; "+want) {
			t.Errorf("%s: %s\nwant %s", key, got, want)
		}
	}
}

var keysOfOthers = []string{
	"replicas", // not an interval
	"brokers",  // not a number
	"topic",    // not the mapping
	"seed",     // not the order of runs
	"threads",  // not those of a queue
}

func TestSynonyms(t *testing.T) {
	words := 0
	for _, all := range meanings {
		words += len(strings.Fields(all))
	}
	if words != len(synonyms) {
		t.Errorf("%d of %d words have two meanings", words-len(synonyms), words)
	}
	for word, ours := range synonyms {
		if synonym(word) != ours {
			t.Errorf("%s is never found", word)
		}
		if paths := elsewhere(word); len(paths) > 0 && !slices.Contains(keysOfOthers, word) {
			t.Errorf("%s is a key, at %v", word, paths)
		}
		if strings.HasPrefix(ours, "nothing: ") {
			continue
		}
		for alternative := range strings.SplitSeq(ours, ", or ") {
			if strings.HasPrefix(alternative, "nothing: ") || strings.HasPrefix(alternative, "the ") || strings.HasPrefix(alternative, "kafka-bench ") {
				continue // TestComingFrom of the command checks those
			}
			path, _, _ := strings.Cut(strings.ReplaceAll(strings.ReplaceAll(alternative, firstItem, ""), ":", ","), ",")
			typ := reflect.TypeFor[document]()
			for _, key := range splitPath(path) {
				if typ.Kind() == reflect.Map {
					break
				}
				if typ.Kind() == reflect.Slice {
					typ = typ.Elem()
				}
				if typ = fieldType(typ, key); typ == nil {
					t.Fatalf("%s stands for %s, which there is not", word, path)
				}
			}
		}
	}
}

func TestMistakesOfAliases(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"phases: {warmup: &w 3s, measure: 30s}\nload:\n  rate: *w", `f.yaml:3:9: load.rate: rate "3s": unknown multiplier "s"; write 3/s, 3k/s (thousands) or 3M/s (millions)`},
		{"phases: {warmup: &w 3s}\nsampling:\n  interval: 1s\n  lag: 1s\nload:\n  linger: 1ms\n  delivery_timeout: 2m\nconsume:\n  commit: *w\n  fetch:\n    max_wait: &m 2m\nbackpressure:\n  poll: *m",
			"f.yaml:11:15: consume.fetch.max_wait: 2m is too high; give at most 1m\nf.yaml:13:9: backpressure.poll: 2m is too high; give at most 1m"},
		{"consume:\n  work: &w {time: 4ms}\nphases: *w", "f.yaml:3:9: phases.time: unknown key; it belongs at consume.work.time"},
		{"topic: {config: {a: &a 7}}\nmatrix: {load.acks: [1, *a]}", `f.yaml:2:25: load.acks: "7" is not known; choose one of 0, 1 or all`},
	} {
		_, err := suiteOf(Options{}, c.text)
		if err == nil || err.Error() != c.want {
			t.Errorf("%q:\n got %v\nwant %s", c.text, err, c.want)
		}
	}
}

func TestNoMistakeFromAMistake(t *testing.T) {
	for _, text := range []string{
		"phases: {measure: 40}\nconsume: {changes: [{at: 35s, work: 1ms}]}",
		"phases: {mesure: 40s}\nconsume: {changes: [{at: 35s, work: 1ms}]}",
		"backpressure: {controller: hysteresis, maxlag: 5}",
		"backpressure: {controller: hysteresis, max_lag: 5m}",
		"load: {arrival: {process: spike, peek: 5k/s, length: 1s}}",
		"load: {arrival: {process: steps, steps: [{rate: 1k/s, for: 5}]}}",
		"load: {record: {size: 1MB}, batch: 2}",
	} {
		if got := mistakes(t, text); len(got) != 1 {
			t.Errorf("%q has %d faults:\n%s", text, len(got), strings.Join(got, "\n"))
		}
	}
}

func TestAliasBomb(t *testing.T) {
	var text strings.Builder
	text.WriteString("load:\n  arrival:\n    process: &l0 lol\n")
	text.WriteString("consume:\n  changes:\n    - &c {")
	for i := range 3000 {
		fmt.Fprintf(&text, "k%d: 1,", i)
	}
	text.WriteString("}\n")
	text.WriteString(strings.Repeat("    - *c\n", 3000))
	got := mistakes(t, text.String())
	if len(got) != maxMistakes+1 || !strings.Contains(got[maxMistakes], "more mistakes follow; correct these first") {
		t.Errorf("%d faults, the last %q", len(got), got[len(got)-1])
	}

	d, _, _ := read([]layer{{"f.yaml", []byte(text.String())}}, Options{})
	if d.nodes > maxNodes+10 || len(d.mistakes) > maxNodes {
		t.Errorf("%d values were visited, and %d faults kept", d.nodes, len(d.mistakes))
	}

	text.Reset()
	text.WriteString("a0: &a0 [x, x]\n")
	for i := range 60 {
		fmt.Fprintf(&text, "a%d: &a%d [*a%d, *a%d]\n", i+1, i+1, i, i)
	}
	text.WriteString("cluster: {jvm: *a60}\n")
	if got := mistakes(t, text.String()); !strings.Contains(strings.Join(got, "\n"), "cluster.jvm[0]: it is a list") {
		t.Errorf("the bomb in a list of words: %q", got)
	}
	if got := mistakes(t, "consume: &c {changes: [*c]}\n"); len(got) == 0 {
		t.Error("an alias to what it stands in is no fault")
	}
	if got := mistakes(t, "cluster: {jvm: ["+strings.Repeat("a,", maxNodes)+"]}"); len(got) != 1 || !strings.Contains(got[0], "more than 20000 values") {
		t.Errorf("a huge list: %.200q", got)
	}
}

func TestMistakesAreBounded(t *testing.T) {
	var text strings.Builder
	for i := range 500 {
		fmt.Fprintf(&text, "key%d: 1\n", i)
	}
	got := mistakes(t, text.String())
	if len(got) != maxMistakes+1 || got[maxMistakes] != "f.yaml:101:1: 400 more mistakes follow; correct these first" {
		t.Errorf("%d faults, the last %q", len(got), got[len(got)-1])
	}
}
