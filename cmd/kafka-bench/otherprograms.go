package main

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// otherProgram is a program of another tool, or a word for a job.
type otherProgram struct {
	names string // in plain form: without kafka-, -test and separators, in lower case
	meant string // the command here; "" if never says why there is none
	// words has the names of its options that mean something else in other programs.
	words map[string]string
	// never says, by an option of the program, why nothing here does that, and what does. "" is for no such option.
	never map[string]string
}

const inspectGroup = "kmq inspect"

// otherPrograms is searched in this order.
var otherPrograms = []otherProgram{
	{names: "producer produce producerperf producerperformance fill writer write send consoleproducer verifiableproducer",
		meant: "run produce-only"},
	{names: "sender", meant: "run produce-only", words: map[string]string{"nodes": "sender_nodes", "threads": "sender_threads", "num_threads": "sender_threads", "batch_size": "max_send_msg_batch_size"}},
	{names: "consumer consume consumerperf consumerperformance reader read receive consoleconsumer verifiableconsumer shareconsumerperf",
		meant: "run consume-only"},
	{names: "receiver", meant: "run consume-only", words: map[string]string{"nodes": "receiver_nodes", "drain": "until-end"}},
	{names: "e2elatency endtoendlatency latency e2ebenchmark tussle", meant: "run e2e"},
	{names: "steprater", meant: "search e2e --curve"},
	{names: "ratefinder maxrate", meant: "search e2e"},
	{names: "redeliverytracker standaloneredeliverytracker redelivery tracker", meant: "kmq tracker", words: map[string]string{
		"topic": "topic", "queue-topic": "topic", "msg-topic": "topic", "marker-topic": "markers-topic", "t": "topic", "b": "brokers",
		"timeout": "visibility", "msg-timeout": "visibility", "redeliver-after": "visibility", "group-id": "group",
		"msg-consumer-group-id": "group", "consumer-group": "group", "g": "group", "max-redelivery-count": "max-redelivery-count",
		"dead-letter-topic": "dead-letter", "dlq": "dead-letter", "bootstrap-servers": "brokers", "bootstrap-server": "brokers",
		"broker-list": "brokers", "hosts": "brokers", "servers": "brokers", "queue": "topic", "markers": "markers-topic"}},
	{names: "consumergroups consumergroup offsets lag groups describegroup getoffsets", meant: inspectGroup, never: map[string]string{
		"reset-offsets": resetsOffsets, "delete-offsets": resetsOffsets,
		"delete": "kafka-bench clean removes the groups that runs left behind; use kafka-consumer-groups for others",
		"list":   "kafka-bench lists no groups; use kafka-consumer-groups, and kafka-bench kmq inspect GROUP for one of them"},
		words: map[string]string{"group": "group", "group-id": "group", "g": "group", "groupid": "group"}},
	{names: "topics topic", never: map[string]string{
		"":         createsTopics,
		"list":     "kafka-bench lists no topics of yours; use kafka-topics",
		"describe": "kafka-bench describes no topics of yours; use kafka-topics, and kafka-bench kmq inspect GROUP for the ends and offsets of a group",
		"alter":    "an existing topic is never altered; use kafka-topics",
		"delete":   "kafka-bench clean removes the topics that runs left behind; use kafka-topics for others"}},
	{names: "configs acls reassignpartitions leaderelection storage dumplog features metadataquorum", never: map[string]string{
		"": "kafka-bench administers no cluster of yours; use Kafka's own tool. In a cluster that a run starts, cluster.config and topic.config are settings"}},
	{names: "serverstart zookeeperserverstart zookeeper start up", meant: "cluster up"},
	{names: "serverstop zookeeperserverstop stop down", meant: "cluster down"},
	{names: "status", meant: "cluster status"},
	{names: "presets scenarios ls results", meant: "list"},
	{names: "dashboard ui web grafana", meant: "serve"},
	{names: "createcharts charts plot view viewer open showresults showreport showresult", meant: "report"},
	{names: "benchmarkworker", meant: "agent"},
	{names: "mqperf", meant: "run"},
	{names: "smoke test", meant: "run quick"},
	{names: "bench load loadtest", meant: "run baseline"},
	{names: "benchmark openmessagingbenchmark sspkafkabench sspbench perf", meant: "run baseline", words: map[string]string{"x": "extra", "w": "workers", "d": "drivers", "p": "x"}},
}

const (
	resetsOffsets = "kafka-bench moves no offsets of a group; use kafka-consumer-groups. To read a topic again needs no reset:\n" +
		"kafka-bench run consume-only --set topic.existing=TOPIC reads it from its start, in a group of its own"
	createsTopics = "kafka-bench creates no topic that stays; use kafka-topics. A run creates a topic of its own, and deletes it:\n" +
		"kafka-bench run SCENARIO TOPICSETTINGS"
)

// kcat is known by its options too.
var kcat = otherProgram{names: "kcat kafkacat", words: map[string]string{
	"C": "mode", "P": "mode", "L": "metadata", "Q": "metadata", "G": "group", "c": "messages", "p": "one-partition", "o": "offset",
	"e": "exit-eof", "u": "unbuffered", "K": "key-delimiter", "D": "payload-delimiter", "l": "payload-file", "k": "key-delimiter",
	"z": "compression", "f": "formatter", "J": "json", "d": "debug", "F": "command-config", "H": "headers",
	"T": "unbuffered", "E": "exit-eof", "q": "q", "v": "v", "X": "x", "Z": "formatter", "i": "unbuffered", "r": "formatter",
	"A": "unbuffered", "O": "unbuffered", "m": "timeout",
}, never: map[string]string{"": "kafka-bench shows no topics and brokers of yours; use kcat -L"}}

// wordsElsewhere are names of options in all programs that are keys of other things here.
var wordsElsewhere = map[string]string{
	"count": "num-records", "config": "config-file", "partition": "one-partition", "time": "duration", "clients": "num-clients",
}

// launchers start other programs. Their own options have a meaning only for them.
var launchers = map[string]otherProgram{
	"java": {}, "curl": {}, "docker": {words: containerWords}, "podman": {words: containerWords}, "kubectl": {words: containerWords}, "sudo": {},
	"env": {}, "time": {}, "nohup": {}, "nice": {}, "taskset": {}, "bash": {}, "sh": {}, "python": {}, "python3": {}, "go": {},
	"mvn": {}, "sbt": {}, "gradle": {}, "gradlew": {}, "kafkarunclass": {}, "ansible": {words: playbookWords},
	"ansibleplaybook": {words: playbookWords},
}

var (
	containerWords = map[string]string{"v": "env", "i": "it", "t": "it", "e": "env", "name": "env", "net": "network", "n": "network", "p": "network"}
	playbookWords  = map[string]string{"e": "x", "extra-vars": "x", "i": "inventory", "l": "limit", "t": "tags", "f": "forks", "b": "become", "u": "become"}
)

// switches are options without a value, in the form of plainName.
var switches = strings.Fields(`create describe list alter delete ifexists ifnotexists excludeinternal underreplicatedpartitions force
	topicswithoverrides resetoffsets execute toearliest tolatest tocurrent export deleteoffsets allgroups alltopics members state
	verbose debug json exiteof unbuffered showdetailedstats printmetrics hideheader fromlatest frombeginning fromstart fromoldest
	produceronly consumeronly payloadmonotonic metadata q v quiet become rm it untilend backpressure enableidempotence
	idempotence extra`)

func plainName(name string) string {
	return strings.NewReplacer("-", "", "_", "", ".", "", " ", "").Replace(strings.ToLower(name))
}

var (
	javaClass   = regexp.MustCompile(`^(?:[a-z]\w*\.)+(?:[a-z]\w*\$)?([A-Z]\w+)$`)
	programEnds = regexp.MustCompile(`\.(?:sh|bat|py|jar|exe|go)$`)
	programRest = regexp.MustCompile(`^(?:kafka|test|run)(.+)$|^(.+?)(?:test|tool|command)$`)
)

// programNamed finds the program of a path, an image, a script, a Java class or a plain name; nil if there is none.
func programNamed(arg string) *otherProgram {
	if isFlag(arg) || strings.Contains(arg, "=") {
		return nil
	}
	base := filepath.Base(arg)
	if class := javaClass.FindStringSubmatch(base); class != nil {
		base = class[1]
	}
	base, _, _ = strings.Cut(base, ":")
	name := plainName(programEnds.ReplaceAllString(base, ""))
	for {
		for _, programs := range [][]otherProgram{otherPrograms, {kcat}} {
			for i := range programs {
				if slices.Contains(strings.Fields(programs[i].names), name) {
					return &programs[i]
				}
			}
		}
		rest := programRest.FindStringSubmatch(name)
		if rest == nil {
			return nil
		}
		name = rest[1] + rest[2]
	}
}

// looksLikeProgram reports whether a word can be the name of a program wherever it stands.
func looksLikeProgram(arg string) bool {
	return strings.ContainsAny(arg, "-/") || javaClass.MatchString(arg) || programEnds.MatchString(arg)
}

func launcherNamed(arg string) (otherProgram, bool) {
	l, is := launchers[plainName(programEnds.ReplaceAllString(filepath.Base(arg), ""))]
	return l, is && !exists(arg)
}

// findProgram returns the place of the program among the arguments; -1 if there is none.
func findProgram(args []string, launched bool) int {
	at := -1
	for i, arg := range args {
		if launched && at >= 0 && isFlag(arg) {
			break // an option of the program
		}
		if p := programNamed(arg); p != nil && (i == 0 || looksLikeProgram(arg) && (launched || !isFlag(args[i-1]) || strings.Contains(args[i-1], "="))) {
			if at = i; !launched {
				break
			}
		}
	}
	return at
}

// programOfOptions returns the program that options stand for, in command lines that begin with an option.
func programOfOptions(args []string) *otherProgram {
	has := func(names ...string) bool {
		return slices.ContainsFunc(args, func(arg string) bool {
			name, _, _ := strings.Cut(strings.TrimLeft(arg, "-"), "=")
			return isFlag(arg) && (slices.Contains(names, name) || len(name) > 1 && slices.Contains(names, plainName(name)))
		})
	}
	groups := has("group", "allgroups")
	switch {
	case has("C", "P", "L", "Q", "G") && has("t", "b", "G"):
		return &kcat
	case has("resetoffsets", "deleteoffsets"), has("describe") && groups:
		return programNamed("consumer-groups")
	case has("create", "alter", "describe", "delete", "list"):
		return programNamed("topics")
	}
	for i, arg := range args {
		name, value, valued := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		if !slices.Contains([]string{"mode", "role", "operation"}, plainName(name)) {
			continue
		}
		if !valued && i+1 < len(args) {
			value = args[i+1]
		}
		return programNamed(value)
	}
	return nil
}

// job returns the command that a program is here, or why there is none. Options choose.
func (p *otherProgram) job(args []string) (meant, never string) {
	if p.names == kcat.names {
		switch {
		case slices.Contains(args, "-L"), slices.Contains(args, "-Q"):
			return "", p.never[""]
		case slices.Contains(args, "-P"):
			return "run produce-only", ""
		}
		return "run consume-only", ""
	}
	for option, why := range p.never {
		if option != "" && slices.ContainsFunc(args, func(arg string) bool { return isFlag(arg) && plainName(arg) == plainName(option) }) {
			return "", why
		}
	}
	if p.meant == "" {
		return "", p.never[""]
	}
	return p.meant, ""
}
