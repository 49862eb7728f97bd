package main

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/plan/spelling"
)

var resultFile = regexp.MustCompile(`\.(json|html|csv|txt|md|xml|log)$`)

func isFileName(value string) bool { return resultFile.MatchString(value) }

var outputs = []string{"o", "output", "outputfile", "out", "resultfile", "reportfile", "outfile", "report", "html", "page", "summaryexport"}

// output takes the file that an option writes. Runs write folders, and reports to the standard output.
func (w *otherWords) output(typed string, o scenario.Option) bool {
	if !slices.Contains(outputs, plainName(o.Name)) {
		return false
	}
	format := map[string]string{".json": "json", ".html": "html", ".csv": "csv", ".md": "markdown"}[filepath.Ext(o.Value)]
	switch {
	case w.c.Flags().Lookup("page") != nil && format == "html":
		w.say(typed, "--page")
		w.flags = append(w.flags, proposed{args: []string{"--page=" + o.Value}, word: "page"})
		w.derived = true
	case w.c.Flags().Lookup("format") != nil && w.c.Name() != "import":
		said := "> " + o.Value
		if format != "" {
			w.flags = append(w.flags, proposed{args: []string{"--format", format}, word: "format"})
			said = "--format " + format + " " + said
		}
		w.say(typed, said)
		w.redirect, w.derived = o.Value, true
	default:
		return false
	}
	return true
}

var secured = regexp.MustCompile(`^(sasl|ssl|security)\.`)

// explainFile takes the options of another tool's file, the value of an option or an argument. It returns false for a file that
// is none, or if there is no such file.
func (w *otherWords) explainFile(typed, path string) bool {
	if !scenarios(w.c) && w.instead == "" || slices.Contains(takesRuns, w.c.Name()) {
		return false
	}
	options := optionsOfFile(path)
	if len(options) == 0 {
		return false
	}
	if isResultElsewhere(path) {
		w.say(typed, "a result of another tool, with its settings; kafka-bench import "+shellWord(path)+" makes a run of it")
	} else {
		w.say(typed, "settings of another tool:")
	}
	if slices.ContainsFunc(options, func(o scenario.Option) bool { return secured.MatchString(o.Name) }) {
		w.rows = append(w.rows, otherRow{typed: path, ours: "--command-config, for the access that stands in it", word: "command-config"})
		w.flags = append(w.flags, proposed{args: []string{"--command-config=" + path}, word: "command-config"})
	}
	w.options(options)
	return true
}

var settingsFile = regexp.MustCompile(`\.(ya?ml|json|conf|properties)$`)

// missing takes a file of settings, or a scenario, that is not there.
func (w *otherWords) missing(typed, path string) bool {
	if !settingsFile.MatchString(path) || exists(path) {
		return false
	}
	w.say(typed, notThere)
	w.otherwise = ""
	return true
}

const (
	theScenario = "the SCENARIO"
	notThere    = "a file that is not there; once it is, it is the SCENARIO, or its settings are explained"
)

func (w *otherWords) options(all []scenario.Option) (any bool) {
	for _, o := range all {
		w.option(o.Name+": "+o.Value, scenario.Option{Name: w.rename(o.Name), Value: o.Value})
	}
	return len(all) > 0
}

// inline takes the options in a text such as {targetRate: 10k, runTime: 60s}. It returns false for another text.
func (w *otherWords) inline(text string) bool {
	return strings.HasPrefix(text, "{") && w.options(scenario.OtherOptions([]byte(text)))
}

func (w *otherWords) argument(arg string) {
	if w.inline(arg) || w.explainFile(arg, arg) {
		return
	}
	if strings.Contains(arg, "://") {
		w.say(arg, "nothing: no server is asked to run")
		return
	}
	if scenarios(w.c) && arg == "kmq" { // perhaps also a folder here
		w.option(arg, scenario.Option{Name: "mq", Value: arg})
		return
	}
	tracks := w.instead == "kmq tracker"
	if (scenarios(w.c) && filepath.Ext(arg) != ".properties" || tracks) && w.missing(arg, arg) {
		return
	}
	if strings.HasPrefix(w.instead, "cluster ") || w.instead == "list" || tracks {
		w.say(arg, "nothing: it takes no arguments; see "+w.c.CommandPath()+" --help")
		return
	}
	if !scenarios(w.c) || isScenario(arg) || slices.Contains([]string{".yaml", ".yml"}, filepath.Ext(arg)) {
		w.scenarios = append(w.scenarios, arg)
		return
	}
	w.arguments = append(w.arguments, arg)
}

// byPosition has the arguments of Kafka's EndToEndLatency and ProducerPerformance, and of kcat's groups.
var byPosition = []struct {
	names []string
	these *regexp.Regexp
}{
	{[]string{"broker-list", "topic", "num-records", "acks", "record-size", "command-config"}, regexp.MustCompile(`^\S+:\d+ \S+ \d+ \S+ \d+ \S+$`)},
	{[]string{"broker-list", "topic", "num-records", "acks", "record-size"}, regexp.MustCompile(`^\S+:\d+ \S+ \d+ \S+ \d+$`)},
	{[]string{"broker-list", "zookeeper", "topic", "num-records", "fetch-max-wait-ms", "acks"}, regexp.MustCompile(`^\S+:\d+ \S+:\d+ \S+ \d+ \d+ \S+$`)},
	{[]string{"broker-list", "zookeeper", "topic", "num-records"}, regexp.MustCompile(`^\S+:\d+ \S+:\d+ \S+ \d+$`)},
	{[]string{"topic", "num-records", "record-size", "throughput"}, regexp.MustCompile(`^\S+( -?\d+){3}$`)},
}

func (w *otherWords) positions() {
	for _, p := range byPosition {
		n := len(w.arguments) - len(p.names)
		if n < 0 || slices.ContainsFunc(w.arguments, unknownProgram) || !p.these.MatchString(strings.Join(w.arguments[n:], " ")) {
			continue
		}
		for i, name := range p.names {
			w.option(w.arguments[n+i], scenario.Option{Name: name, Value: w.arguments[n+i]})
		}
		w.arguments = w.arguments[:n]
	}
	if joined := strings.Join(w.arguments, "-"); len(w.arguments) > 1 && isScenario(joined) {
		w.say(strings.Join(w.arguments, " "), "the preset "+joined)
		w.scenarios, w.arguments, w.derived = append(w.scenarios, joined), nil, true
	}
	for _, arg := range w.arguments {
		meaning := "unknown"
		near := spelling.Nearest(arg, scenario.Names())
		switch {
		case w.program != nil && len(arg) > 0 && w.program.names == kcat.names && slices.ContainsFunc(w.all.Set, isGroup):
			w.option(arg, scenario.Option{Name: "topic", Value: arg})
			continue
		case near != "":
			w.scenarios = append(w.scenarios, near)
			w.derived = true
			meaning += "; did you mean the preset " + near + "?"
		case arg == "run":
			meaning = "the command run"
		case unknownProgram(arg):
			meaning = "a program that is not known; its options are read"
		case bareNumber.MatchString(arg):
			meaning = "unknown; say what it is, as in --num-records " + arg
			w.derived = true // as far as the answer can ask
		case w.program != nil || len(w.words) > 0:
			meaning = "nothing: " + arg + " is no option, and a run takes its settings with --set"
		}
		w.say(arg, meaning)
	}
}

var bareNumber = regexp.MustCompile(`^-?[0-9]+$`)

func unknownProgram(arg string) bool {
	return strings.Contains(arg, "/") || programEnds.MatchString(arg) || javaClass.MatchString(arg)
}

func isGroup(s scenario.Setting) bool { return s.Key == "consume.group" }
