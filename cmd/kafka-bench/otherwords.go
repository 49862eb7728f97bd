package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"kafkabench.example/kafka-bench/internal/plan/native"
	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/plan/spelling"
	"kafkabench.example/kafka-bench/internal/show/layout"
)

// unknownWords is the error of a command line that has words which are not known. inOurWords replaces it.
type unknownWords struct {
	in    *cobra.Command // nil is the one of the command line
	cause error          // of the flag library; nil if an argument is not known
}

func (unknownWords) Error() string { return "the command line has unknown words" }

const inspectGroup = "kmq inspect"

// commandsElsewhere has the commands here by those of other tools.
var commandsElsewhere = map[string]string{
	"start": "cluster up", "up": "cluster up", "stop": "cluster down", "down": "cluster down", "status": "cluster status",
	"bench": "run baseline", "benchmark": "run baseline", "test": "run quick", "presets": "list", "scenarios": "list",
	"ls": "list", "results": "list", "produce": "run produce-only", "producer": "run produce-only",
	"producerperf": "run produce-only", "consumerperf": "run consume-only", "fill": "run produce-only",
	"steprater": "search e2e --curve", "producerperformance": "run produce-only", "consumerperformance": "run consume-only",
	"offsets": inspectGroup, "lag": inspectGroup, "groups": inspectGroup, "consumergroups": inspectGroup, "describegroup": inspectGroup,
	"sender": "run produce-only", "receiver": "run", "mqperf": "run", "endtoendlatency": "run e2e",
	"ratefinder": "search e2e", "redeliverytracker": "kmq tracker --group GROUP --topic TOPIC",
	"consume": "run consume-only", "consumer": "run consume-only", "dashboard": "serve", "ui": "serve",
}

// inOurWords answers all unknown words of a command line at once. For a command with scenarios, it prints the command
// line that was meant.
func inOurWords(root *cobra.Command, u unknownWords, args []string) error {
	w := otherWords{c: u.in, help: u.in.CommandPath() + " --help"}
	for c := u.in; c.HasParent(); c = c.Parent() {
		if i := slices.Index(args, c.Name()); i >= 0 {
			args = slices.Concat(args[:i], args[i+1:])
		}
	}
	if w.c == root {
		w.c, _, _ = root.Find([]string{"run"}) // there is one
		args = w.command(root, args)
		w.help = w.c.CommandPath() + " --help"
		w.derived = w.derived || len(args) > 0 && w.flag(strings.TrimLeft(args[0], "-")) != nil // a flag of run
	}
	if u.in.Name() == "kmq" && len(args) > 0 && isSynonym(args[0]) { // a queue under load
		w.c, _, _ = root.Find([]string{"run"})
		w.option("kmq", scenario.Option{Name: "mq", Value: "kmq"})
	}
	w.c.InitDefaultHelpFlag()
	w.read(args)
	if len(w.rows) == 0 && !w.derived {
		return fmt.Errorf("%w; see %s", cmp.Or(w.invalid, u.cause), w.help)
	}
	return w.answer()
}

// otherWords is a command line with words that are not known.
type otherWords struct {
	c         *cobra.Command
	help      string
	scenarios []string // among the arguments
	flags     []string // known flags with their values
	rows      [][]string
	arguments []string // unknown ones
	all       scenario.Translation
	instead   string   // another command
	derived   bool     // something of the command line that was meant is known
	invalid   error    // values of known flags
	without   []string // settings that the command line lacks, each with the reason
}

// command takes a word that stands for a command: another tool's, or a preset's name. It returns the other arguments.
func (w *otherWords) command(root *cobra.Command, args []string) []string {
	if len(args) == 0 || isFlag(args[0]) || isSetting(args[0]) {
		return args
	}
	word := args[0]
	if isScenario(word) {
		w.say(word, "a scenario, for the command run")
		w.derived = true
		return args
	}
	if meant := commandsElsewhere[commandAffixes.Replace(strings.ToLower(word))]; meant != "" {
		w.say(word, "the command "+meant)
		command, preset, _ := strings.Cut(meant, " ")
		if w.all.Scenario, w.derived = preset, true; command == "search" {
			w.all.Command = command
			if preset, curve := strings.CutSuffix(preset, " --curve"); curve {
				w.all.Scenario, w.flags = preset, append(w.flags, "--curve")
			}
		} else if command != "run" {
			w.all.Scenario, w.instead = "", meant
			w.c, _, _ = root.Find(strings.Fields(meant)) // its flags
		}
		return args[1:]
	}
	byName := make(map[string]*cobra.Command)
	for _, c := range root.Commands() {
		if !c.Hidden {
			byName[c.Name()] = c
		}
	}
	near := byName[spelling.Nearest(word, slices.Sorted(maps.Keys(byName)))]
	if near == nil {
		return args
	}
	w.say(word, "did you mean the command "+near.Name()+"?")
	if w.derived = true; scenarios(near) {
		w.c = near
	} else {
		w.instead = near.Name()
	}
	return args[1:]
}

// isSynonym reports whether an argument is an option or a setting of another tool, perhaps misspelt.
func isSynonym(arg string) bool {
	name, _, _ := strings.Cut(strings.TrimLeft(arg, "-"), "=")
	return scenario.Meaning(name) != "" || scenario.Nearest(name) != ""
}

var commandAffixes = strings.NewReplacer("kafka-", "", "-test", "", ".sh", "", "-", "")

// scenarios reports whether a command takes scenarios, and so settings.
func scenarios(c *cobra.Command) bool { return c.Flags().Lookup("set") != nil }

func isScenario(arg string) bool {
	return arg == "-" || slices.Contains(scenario.Names(), arg) || exists(arg)
}

// isSetting reports whether an argument looks like key=value, and is no file.
func isSetting(arg string) bool { return strings.Contains(arg, "=") && !isScenario(arg) }

var negative = regexp.MustCompile(`^-[0-9]`)

func isFlag(arg string) bool { return len(arg) > 1 && arg[0] == '-' && !negative.MatchString(arg) }

func (w *otherWords) say(typed, ours string) { w.rows = append(w.rows, []string{"  " + typed, ours}) }

func (w *otherWords) read(args []string) {
	for len(args) > 0 {
		arg := args[0]
		args = args[1:]
		name, value, valued := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		if valued && strings.HasPrefix(arg, "-D") { // a property of Java
			name = name[1:]
		}
		flag := w.flag(name)
		switch {
		case arg == "--":
		case !isFlag(arg) && !isSetting(arg):
			w.argument(arg)
		case flag != nil:
			args = w.known(flag, arg, value, valued, args)
		default:
			typed := arg
			if !valued && isFlag(arg) && len(args) > 0 && takes(name, args[0]) {
				typed, value, args = arg+" "+args[0], args[0], args[1:]
			}
			w.option(typed, scenario.Option{Name: name, Value: value})
		}
	}
	w.positions()
}

// takes reports whether next is the value of an unknown option.
func takes(name, next string) bool {
	if strings.Contains(next, "=") && !exists(next) {
		return scenario.Pairs(name)
	}
	return !isFlag(next) && !slices.Contains(scenario.Names(), next)
}

// flag finds a flag of the command in any spelling, such as clusterId; nil without one.
func (w *otherWords) flag(name string) (found *pflag.Flag) {
	w.c.Flags().VisitAll(func(f *pflag.Flag) {
		if spelling.Same(f.Name, name) {
			found = f
		}
	})
	return found
}

// known reads a flag of the command. It returns the arguments after the flag's value.
func (w *otherWords) known(flag *pflag.Flag, arg, value string, valued bool, args []string) []string {
	typed, ours := arg, "--"+flag.Name
	switch {
	case valued:
		ours += "=" + shellWord(value)
	case flag.NoOptDefVal != "":
		value = flag.NoOptDefVal
	case len(args) == 0:
		w.invalid = errors.Join(w.invalid, fmt.Errorf("--%s needs a value", flag.Name))
		return nil
	default:
		value, args = args[0], args[1:]
		typed, ours = typed+" "+value, ours+" "+shellWord(value)
	}
	if err := flag.Value.Set(value); err != nil {
		w.invalid = errors.Join(w.invalid, valueError(flag, value, err))
		return args
	}
	if !strings.HasPrefix(arg, "--"+flag.Name) {
		w.say(typed, "--"+flag.Name)
		w.derived = true
	}
	w.flags = append(w.flags, ours)
	return args
}

// option takes an option that is no flag. Only commands with scenarios have settings.
func (w *otherWords) option(typed string, o scenario.Option) {
	if w.file(o.Value) {
		return
	}
	t := scenario.Translate(o)
	if !scenarios(w.c) {
		if w.instead == inspectGroup && slices.Contains([]string{"group", "groupid", "g"}, strings.ToLower(o.Name)) {
			w.say(typed, "the GROUP, an argument")
			w.scenarios = append(w.scenarios, o.Value)
			return
		}
		if w.sameFlag(typed, t) {
			return
		}
		t = scenario.Translation{}
	}
	meaning := strings.NewReplacer("here that is ", "", "it belongs at ", "").Replace(t.Meaning)
	if meaning == "" && !t.Given() && scenarios(w.c) && len(o.Name) > 2 && spelling.Nearest(o.Name, flagNames(w.c)) == "" {
		if near := scenario.Nearest(o.Name); near != "" {
			w.option(typed+", read as "+near, scenario.Option{Name: near, Value: o.Value})
			return
		}
	}
	near := spelling.Nearest(o.Name, flagNames(w.c))
	if flag := w.c.Flags().Lookup(near); meaning == "" && !t.Given() && flag != nil && o.Value != "" && flag.NoOptDefVal == "" {
		w.known(flag, typed, o.Value, true, nil)
		return
	}
	switch {
	case meaning == "" && len(t.Set) > 0:
		meaning = o.Name // a whole path
	case meaning == "" && near != "":
		meaning = "unknown; did you mean --" + near + "?"
	case meaning == "":
		meaning = "unknown"
	case !t.Given() && !strings.HasPrefix(meaning, "the flag ") && !strings.Contains(meaning, "nothing: ") && !strings.Contains(meaning, "--set"):
		meaning += "; keys of a scenario are given with --set"
	}
	if native.Access(o.Name + " " + o.Value) { // may be a password
		typed = o.Name + " …"
	}
	w.say(typed, meaning)
	w.derived = w.derived || t.Given() || t.Meaning != ""
	w.all.Add(t)
}

// file takes the options of another tool's file. It returns false for a file that is none, or if there is no such file.
func (w *otherWords) file(path string) bool {
	if !scenarios(w.c) {
		return false
	}
	options := optionsOfFile(path)
	if slices.ContainsFunc(options, func(o scenario.Option) bool { return secured.MatchString(o.Name) }) {
		w.say(path, "--command-config, for the access that stands in it")
		w.flags = append(w.flags, "--command-config="+shellWord(path))
	}
	return w.options(options)
}

func (w *otherWords) options(all []scenario.Option) (any bool) {
	for _, o := range all {
		w.option(o.Name+": "+o.Value, o)
	}
	return len(all) > 0
}

var secured = regexp.MustCompile(`^(sasl|ssl|security)\.`)

func optionsOfFile(path string) []scenario.Option {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	return scenario.OtherOptions(text)
}

// sameFlag takes an option whose key here is also a flag of the command, such as the visibility of a queue.
func (w *otherWords) sameFlag(typed string, t scenario.Translation) bool {
	for _, set := range slices.Concat(t.Set, t.Flags) {
		path, value, _ := strings.Cut(set, "=")
		if flag := w.flag(path[strings.LastIndex(path, ".")+1:]); flag != nil {
			w.known(flag, typed, value, true, nil)
			return true
		}
	}
	return false
}

func flagNames(c *cobra.Command) (names []string) {
	c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	return names
}

func (w *otherWords) argument(arg string) {
	if w.file(arg) || strings.HasPrefix(arg, "{") && w.options(scenario.OtherOptions([]byte(arg))) {
		return
	}
	if scenarios(w.c) && arg == "kmq" { // perhaps also a folder here
		w.option(arg, scenario.Option{Name: "mq", Value: arg})
		return
	}
	if !scenarios(w.c) || isScenario(arg) || slices.Contains([]string{".yaml", ".yml"}, filepath.Ext(arg)) {
		w.scenarios = append(w.scenarios, arg)
		return
	}
	w.arguments = append(w.arguments, arg)
}

// byPosition has the arguments of Kafka's EndToEndLatency and ProducerPerformance.
var byPosition = []struct {
	names []string
	these *regexp.Regexp
}{
	{[]string{"broker-list", "topic", "num-records", "acks", "record-size"}, regexp.MustCompile(`^\S+:\d+ \S+ \d+ \S+ \d+$`)},
	{[]string{"topic", "num-records", "record-size", "throughput"}, regexp.MustCompile(`^\S+( -?\d+){3}$`)},
}

func (w *otherWords) positions() {
	for _, p := range byPosition {
		n := len(w.arguments) - len(p.names)
		if n < 0 || !p.these.MatchString(strings.Join(w.arguments[n:], " ")) {
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
		if near := spelling.Nearest(arg, scenario.Names()); near != "" {
			w.scenarios = append(w.scenarios, near)
			w.derived = true
			meaning += "; did you mean the preset " + near + "?"
		}
		w.say(arg, meaning)
	}
}

func (w *otherWords) answer() error {
	var text strings.Builder
	table := layout.Table{Gap: 3, Left: map[int]bool{0: true, 1: true}, Rows: w.rows}
	if err := table.Print(&text); err != nil {
		return err
	}
	said := "not known here; see " + w.help + "\n" + text.String()
	if w.invalid != nil {
		said += w.invalid.Error() + "\n"
	}
	if line, err := w.line(); line != "" {
		said += "what was meant is\n  " + line
		if brokers := brokersIn.FindStringSubmatch(line); brokers != nil && !strings.Contains(line, "--cluster-id") &&
			!loopback(strings.Split(brokers[1], ",")) {
			said += "\nwithout --cluster-id it prints the ID of this cluster, which is not on this machine, and ends"
		}
		if len(w.without) > 0 {
			said += "\nwithout " + strings.Join(w.without, ",\nwithout ")
		}
		if strings.Contains(line, "topic.existing=TOPIC") {
			said += "\nTOPIC stands for a topic of yours"
		}
		if strings.Contains(line, "consume.queue.engine=markers") {
			said += "\nengine markers is kmq's; plain is an ordinary consumer group"
		}
		if strings.Contains(line, "--group GROUP") {
			said += "\nGROUP and TOPIC stand for those of the queue"
		}
		if err != nil {
			said += "\nand in it\n" + err.Error()
		}
	}
	return errors.New(strings.TrimSpace(said))
}

var brokersIn = regexp.MustCompile(`--brokers[ =](\S+)`)

// line returns the command line that was meant, and the mistakes that it has; "" if nothing of it is known.
func (w *otherWords) line() (line string, mistakes error) {
	if !w.derived {
		return "", nil
	}
	command := w.c.CommandPath()
	if w.instead != "" {
		command = "kafka-bench " + w.instead
	}
	if w.instead != "" || !scenarios(w.c) {
		return strings.Join(slices.Concat([]string{command}, w.scenarios, w.flags), " "), nil
	}
	if len(w.scenarios) > 0 {
		w.all.Scenario = w.scenarios[0]
	}
	all := w.all.Complete()
	if all.Command != "" {
		command = "kafka-bench " + all.Command
	}
	words := []string{command, shellWord(all.Scenario)}
	for _, arg := range w.scenarios[min(1, len(w.scenarios)):] {
		words = append(words, shellWord(arg))
	}
	words = append(words, w.flags...)
	w.without = all.Without
	if all.Scenario == "produce-only" && slices.ContainsFunc(all.Set, namesTopic) && !slices.ContainsFunc(w.flags, keepsTopics) {
		words = append(words, "--keep-topics") // the next command reads it
		if !slices.ContainsFunc(slices.Concat(w.flags, all.Flags), namesCluster) {
			all.Flags = append(all.Flags, "brokers=localhost:9092")
		}
		if slices.ContainsFunc(all.Set, countsRecords) {
			all.Set = append(all.Set, "phases.warmup=0s") // so many in all
		}
	}
	if all.Scenario == "consume-only" && !readsExistingTopic(all) && !slices.Contains(all.Set, "topic.existing=null") && !slices.ContainsFunc(w.flags, mayNameTopic) {
		all.Set = append(all.Set, "topic.existing=TOPIC")
	}
	if (readsExistingTopic(all) || slices.ContainsFunc(all.Flags, isAccess)) && !slices.ContainsFunc(slices.Concat(w.flags, all.Flags), namesCluster) {
		all.Flags = append(all.Flags, "brokers=localhost:9092") // what these tools take without a word
	}
	for _, flag := range all.Flags {
		name, value, _ := strings.Cut(flag, "=")
		words = append(words, "--"+name+" "+shellWord(value))
	}
	for _, set := range all.Set {
		words = append(words, "--set "+shellWord(set))
	}
	return strings.Join(words, " "), w.mistakes(all)
}

// readsExistingTopic reports whether a scenario reads a topic that exists, which no cluster has that a run starts.
func readsExistingTopic(all scenario.Translation) bool {
	return slices.ContainsFunc(all.Set, func(set string) bool {
		return strings.HasPrefix(set, "topic.existing=") && set != "topic.existing=null"
	})
}

func namesTopic(set string) bool { return strings.HasPrefix(set, "topic.name=") }

func countsRecords(set string) bool { return strings.HasPrefix(set, "load.records=") }

func keepsTopics(flag string) bool { return strings.HasPrefix(flag, "--keep-topics") }

func mayNameTopic(flag string) bool {
	return strings.HasPrefix(flag, "--merge") || strings.Contains(flag, "topic")
}

func isAccess(flag string) bool { return strings.HasPrefix(flag, "command-config=") }

func namesCluster(flag string) bool {
	flag = strings.TrimLeft(flag, "-")
	return strings.HasPrefix(flag, "brokers") || strings.HasPrefix(flag, "cluster")
}

// mistakes returns those of the first scenario.
func (w *otherWords) mistakes(all scenario.Translation) error {
	if all.Scenario == "-" || !isScenario(all.Scenario) {
		return nil
	}
	o := scenario.Options{Drivers: driverNames()}
	o.Merge, _ = w.c.Flags().GetStringArray("merge") // there are both
	o.Set, _ = w.c.Flags().GetStringArray("set")
	o.Set = slices.Concat(o.Set, all.Set)
	_, err := scenario.ReadSuite(all.Scenario, o)
	return err
}
