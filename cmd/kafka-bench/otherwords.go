package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"kafkabench.example/kafka-bench/internal/plan/native"
	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/plan/spelling"
)

// unknownWords is the error of a command line that has words which are not known. inOurWords replaces it.
type unknownWords struct {
	in    *cobra.Command // nil is the one of the command line
	cause error          // of the flag library; nil if an argument is not known
}

func (unknownWords) Error() string { return "the command line has unknown words" }

// otherWords is a command line with words that are not known.
type otherWords struct {
	ctx       context.Context
	c         *cobra.Command
	help      string
	program   *otherProgram     // nil if none is named
	words     map[string]string // names of options by those that the program has, in the form of plainName
	scenarios []string          // among the arguments
	flags     []proposed        // known flags with their values
	rows      []otherRow
	arguments []string   // unknown ones
	results   []string   // files that import takes
	folders   [][]string // results by folder
	all       scenario.Translation
	meant     string // the command of the program
	otherwise string // the preset if the words say no other
	instead   string // another command
	never     string // why nothing here does what the program does
	redirect  string // file that the output belongs to
	derived   bool   // something of the command line that was meant is known
	invalid   error  // values of known flags
	remarks   []string
}

// otherRow says what a word is here.
type otherRow struct {
	typed, ours string
	word        string // of the settings
	set         []scenario.Setting
}

// inOurWords answers all unknown words of a command line at once, and prints the command line that was meant.
func inOurWords(root *cobra.Command, u unknownWords, args []string) error {
	w := otherWords{ctx: root.Context(), c: u.in, help: u.in.CommandPath() + " --help"}
	for c := u.in; c.HasParent(); c = c.Parent() {
		if i := slices.Index(args, c.Name()); i >= 0 {
			args = slices.Concat(args[:i], args[i+1:])
		}
	}
	run, _, _ := root.Find([]string{"run"}) // there is one
	switch w.c {
	case root:
		w.c = run
		args = w.command(root, args)
		w.help = w.c.CommandPath() + " --help"
		w.derived = w.derived || len(args) > 0 && w.flag(strings.TrimLeft(args[0], "-")) != nil // a flag of run
	case run:
		args = w.programAt(root, args, true)
	default:
		if w.program = programNamed(w.c.Name()); w.program != nil && "kafka-bench "+w.program.meant == w.c.CommandPath() {
			w.takeProgram(root, nil)
			w.derived = false // the command alone says nothing new
		} else {
			w.program = nil
		}
	}
	if w.c.Name() == "search" {
		w.all.Command = "search"
	}
	if u.in.Name() == "kmq" && len(args) > 0 && isSynonym(args[0]) { // a queue under load
		w.c = run
		w.option("kmq", scenario.Option{Name: "mq", Value: "kmq"})
	}
	w.c.InitDefaultHelpFlag()
	w.read(args)
	if slices.Contains(takesRuns, w.c.Name()) {
		w.foreign(w.scenarios)
	}
	if len(w.rows) == 0 && !w.derived {
		return fmt.Errorf("%w; see %s", cmp.Or(w.invalid, u.cause), w.help)
	}
	return w.answer()
}

// orSettings answers arguments that are settings without --set, and checks all others.
func orSettings(others cobra.PositionalArgs) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if slices.ContainsFunc(args, isSetting) {
			return unknownWords{in: c}
		}
		return others(c, args)
	}
}

// isSynonym reports whether an argument is an option or a setting of another tool, perhaps misspelt.
func isSynonym(arg string) bool {
	name, _, _ := strings.Cut(strings.TrimLeft(arg, "-"), "=")
	return scenario.Meaning(name) != "" || scenario.Nearest(name) != ""
}

// scenarios reports whether a command takes scenarios, and so settings.
func scenarios(c *cobra.Command) bool { return c.Flags().Lookup("set") != nil }

func isScenario(arg string) bool {
	return arg == "-" || slices.Contains(scenario.Names(), arg) || exists(arg)
}

// isSetting reports whether an argument looks like key=value, and is no file.
func isSetting(arg string) bool { return strings.Contains(arg, "=") && !isScenario(arg) }

var negative = regexp.MustCompile(`^-[0-9]`)

func isFlag(arg string) bool { return len(arg) > 1 && arg[0] == '-' && !negative.MatchString(arg) }

func (w *otherWords) say(typed, ours string) {
	w.rows = append(w.rows, otherRow{typed: typed, ours: ours})
}

var ofVirtualMachine = regexp.MustCompile(`^-(?:Xm[sxn]|XX:|Xlog|verbose:|ea$|server$)`)

func (w *otherWords) read(args []string) {
	for len(args) > 0 {
		arg := args[0]
		args = args[1:]
		name, value, valued := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		if valued && strings.HasPrefix(arg, "-D") { // a property of Java
			name = name[1:]
		}
		renamed := w.rename(name)
		flag := w.flag(renamed)
		if renamed != name && !scenarios(w.c) {
			flag = nil // its value may need a unit
		}
		if flag != nil && flag.Name == "out" && (strings.Contains(value, ".") || len(args) > 0 && isFileName(args[0])) {
			flag = nil // a file, and no folder of runs
		}
		switch {
		case arg == "--" || arg == `\`:
		case isFlag(arg) && w.inline(strings.TrimLeft(arg, "-d")): // of curl
		case ofVirtualMachine.MatchString(arg):
			w.say(arg, "nothing: there is no virtual machine")
		case !isFlag(arg) && !isSetting(arg):
			w.argument(arg)
		case flag != nil:
			args = w.known(flag, arg, value, valued, args)
		default:
			typed := arg
			if len(args) > 0 && len(renamed) == 1 && isSetting(args[0]) && scenario.Meaning(renamed) == "" {
				renamed = "x" // as -e and -X have it
			}
			if !valued && isFlag(arg) && len(args) > 0 && takes(renamed, args[0]) {
				typed, value, args = arg+" "+args[0], args[0], args[1:]
			}
			w.option(typed, scenario.Option{Name: renamed, Value: value})
		}
	}
	w.positions()
}

// takes reports whether next is the value of an unknown option.
func takes(name, next string) bool {
	switch {
	case slices.Contains(switches, plainName(name)):
		return next == "true" || next == "false"
	case strings.Contains(scenario.Meaning(name), "the flag --expect"), strings.Contains(scenario.Meaning(name), "the flag --label"):
		return !isFlag(next)
	case strings.Contains(next, "=") && !exists(next):
		return scenario.Pairs(name)
	case slices.Contains(scenario.Names(), next):
		meaning := scenario.Meaning(name)
		return strings.Contains(meaning, theScenario) || strings.Contains(meaning, "the command, as in")
	}
	return !isFlag(next)
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
	typed, ours := arg, []string{"--" + flag.Name}
	switch {
	case valued:
		ours[0] += "=" + value
	case flag.NoOptDefVal != "":
		value = flag.NoOptDefVal
	case len(args) == 0:
		w.invalid = errors.Join(w.invalid, fmt.Errorf("--%s needs a value", flag.Name))
		return nil
	default:
		value, args = args[0], args[1:]
		typed, ours = typed+" "+value, append(ours, value)
	}
	if err := flag.Value.Set(value); err != nil {
		w.invalid = errors.Join(w.invalid, valueError(flag, value, err))
		return args
	}
	if name, _, _ := strings.Cut(arg, "="); name != "--"+flag.Name {
		said := "--" + flag.Name
		if at := strings.Index(flag.Usage, "; it has no effect"); at >= 0 {
			said += flag.Usage[at:]
		}
		w.rows = append(w.rows, otherRow{typed: typed, ours: said, word: flag.Name})
		w.derived = true
	}
	w.flags = append(w.flags, proposed{args: ours, word: flag.Name})
	return args
}

// option takes an option that is no flag. Only commands with scenarios have settings.
func (w *otherWords) option(typed string, o scenario.Option) {
	if name, value, is := strings.Cut(o.Value, "="); is && settingsFile.MatchString(value) && scenario.Pairs(o.Name) {
		o = scenario.Option{Name: w.rename(name), Value: value}
	}
	switch {
	case w.inline(o.Value), w.explainFile(typed, o.Value), isFileName(o.Value) && w.output(typed, o),
		(scenarios(w.c) || w.program != nil) && strings.Contains(scenario.Meaning(o.Name), theScenario) && w.missing(typed, o.Value):
		return
	case !scenarios(w.c):
		w.ofCommand(typed, o)
		return
	}
	if plainName(o.Name) == "mode" && isScenario(o.Value) {
		w.say(typed, "the SCENARIO, an argument")
		w.scenarios = append(w.scenarios, o.Value)
		return
	}
	if plainName(o.Name) == "mode" && w.program != nil {
		w.say(typed, "the command "+w.meant)
		return
	}
	t := scenario.Translate(o)
	meaning := strings.NewReplacer("here that is ", "", "it belongs at ", "").Replace(t.Meaning)
	if len(t.Set) > 0 { // and not what it could be with another value
		meaning, _, _ = strings.Cut(meaning, ", or nothing: ")
	}
	near := spelling.Nearest(o.Name, flagNames(w.c))
	if w.never != "" && !t.Given() {
		meaning = cmp.Or(meaning, "nothing here")
	}
	if meaning == "" && !t.Given() && len(o.Name) > 2 {
		flag := w.c.Flags().Lookup(near)
		if word := scenario.Nearest(o.Name); near == "" && word != "" {
			w.option(typed+", read as "+word, scenario.Option{Name: word, Value: o.Value})
			return
		}
		if flag != nil && o.Value != "" && flag.NoOptDefVal == "" {
			w.known(flag, typed, o.Value, true, nil)
			return
		}
	}
	meaning = w.worded(meaning, near, typed, t)
	if w.all.Command == "search" && len(t.Set) == 1 && isMeasure(t.Set[0]) {
		meaning = "the flag --probe, for each rate"
	}
	if native.Access(o.Name + " " + o.Value) { // may be a password
		typed = o.Name + " …"
	}
	meaning += w.conflicts(t.Set)
	w.rows = append(w.rows, otherRow{typed: typed, ours: meaning, word: o.Name, set: t.Set})
	w.derived = w.derived || t.Given() || t.Meaning != ""
	w.all.Add(t)
}

// worded is the meaning of an option as the answer has it.
func (w *otherWords) worded(meaning, near, typed string, t scenario.Translation) string {
	switch {
	case len(t.Set) == 1 && (meaning == "" || !strings.Contains(meaning, ", ") && strings.Contains(meaning, " or ")):
		return t.Set[0].Key // a whole path, or the chosen of several
	case meaning == "" && near != "":
		return "unknown; did you mean --" + near + "?"
	case meaning == "" && strings.HasPrefix(typed, "-D"):
		return "nothing: there is no virtual machine"
	case meaning == "":
		return "unknown"
	case w.never == "" && !t.Given() && !strings.HasPrefix(meaning, "the flag ") && !strings.Contains(meaning, "nothing: ") && !strings.Contains(meaning, "--set"):
		return meaning + "; keys of a scenario are given with --set"
	}
	return meaning
}

// conflicts names the values that settings replace.
func (w *otherWords) conflicts(set []scenario.Setting) (said string) {
	for _, s := range set {
		for _, row := range slices.Backward(w.rows) {
			i := slices.IndexFunc(row.set, func(earlier scenario.Setting) bool { return earlier.Key == s.Key })
			if i < 0 {
				continue
			}
			if earlier := row.set[i].Value; earlier != s.Value {
				said += fmt.Sprintf("; %s is %s, and not the %s of %s", s.Key, s.Value, earlier, row.typed)
			}
			break
		}
	}
	return said
}

// ofCommand takes an option of a command without scenarios: one of its flags by another name.
func (w *otherWords) ofCommand(typed string, o scenario.Option) {
	if w.instead == inspectGroup && plainName(o.Name) == "group" {
		w.say(typed, "the GROUP, an argument")
		w.scenarios = append(w.scenarios, o.Value)
		return
	}
	t := scenario.Translate(o)
	flag := w.flag(o.Name)
	switch listen := w.flag("listen"); {
	case plainName(o.Name) == "port" && listen != nil:
		flag, o.Value = listen, "127.0.0.1:"+o.Value
	case flag == nil && slices.Contains(outputs, plainName(o.Name)):
		flag = w.flag("out")
	case w.flag("format") != nil && slices.Contains([]string{"html", "json", "csv", "markdown"}, plainName(o.Name)):
		flag, o.Value = w.flag("format"), plainName(o.Name)
	}
	for _, set := range t.Flags {
		if name, _, _ := strings.Cut(set, "="); flag == nil {
			flag = w.flag(name)
		}
	}
	for _, s := range t.Set {
		found := w.flag(s.Key[strings.LastIndex(s.Key, ".")+1:])
		switch {
		case found != nil && flag == nil && found.Value.Type() != "string", found != nil && found == flag && found.Value.Type() == "duration":
			flag, o.Value = found, s.Value
		case found != nil && flag == nil:
			flag = found
		}
	}
	if near := spelling.Nearest(o.Name, flagNames(w.c)); flag == nil && t.Meaning == "" && near != "" && o.Value != "" {
		flag = w.c.Flags().Lookup(near)
	}
	switch _, reason, none := strings.Cut(t.Meaning, "nothing: "); {
	case flag != nil && (o.Value != "" || flag.NoOptDefVal != ""):
		w.known(flag, typed, cmp.Or(o.Value, flag.NoOptDefVal), true, nil)
	case plainName(o.Name) == "describe" || plainName(o.Name) == "offsets" && o.Value == "":
		w.say(typed, "what "+w.c.Name()+" shows")
	case none:
		w.say(typed, "nothing: "+reason)
	case w.never != "":
		w.say(typed, cmp.Or(strings.TrimPrefix(t.Meaning, "here that is "), "nothing here"))
	case slices.Contains([]string{"f", "file", "input", "dir"}, plainName(o.Name)) && o.Value != "":
		w.say(typed, "an argument")
		w.scenarios, w.derived = append(w.scenarios, o.Value), true
	case w.program != nil:
		w.say(typed, "nothing: "+w.c.CommandPath()+" has no such option")
	default:
		w.say(typed, "unknown")
	}
}

func flagNames(c *cobra.Command) (names []string) {
	c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	return names
}
