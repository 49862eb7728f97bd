package main

import (
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"

	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/show/layout"
)

// proposed is a part of the command line that was meant: a flag, or a setting.
type proposed struct {
	args []string // "--set", "load.rate=5k/s"
	word string   // the option that gave it; "" if it was derived
}

func (p proposed) text() string {
	words := make([]string, len(p.args))
	for i, arg := range p.args {
		words[i] = shellWord(arg)
	}
	return strings.Join(words, " ")
}

func (p proposed) flag() string {
	name, _, _ := strings.Cut(strings.TrimPrefix(p.args[0], "--"), "=")
	return name
}

// value is that of the flag, or of the setting.
func (p proposed) value() string {
	value := p.args[len(p.args)-1]
	return value[strings.LastIndex(value, "=")+1:]
}

// proposal is the command line that was meant.
type proposal struct {
	command  []string // with its arguments
	parts    []proposed
	redirect string
}

func (p proposal) text() string {
	words := []string{"kafka-bench"}
	for _, arg := range p.command {
		words = append(words, shellWord(arg))
	}
	for _, part := range p.parts {
		words = append(words, part.text())
	}
	if p.redirect != "" {
		words = append(words, "> "+shellWord(p.redirect))
	}
	return strings.Join(words, " ")
}

func (p proposal) args() []string {
	args := slices.Clone(p.command)
	for _, part := range p.parts {
		args = append(args, part.args...)
	}
	return args
}

// whichJob is said if nothing says whether the command line reads or writes.
const whichJob = `what it is for is not said; behind one of these the words are settings:
  kafka-bench run produce-only   sends to a topic
  kafka-bench run consume-only   reads a topic that is there
  kafka-bench run e2e            sends and reads, for times from end to end
  kafka-bench run baseline       sends and reads, for a pipeline under load`

func (w *otherWords) answer() error {
	proposal, known := w.propose()
	if known {
		w.mend(&proposal)
	}
	var text strings.Builder
	table := layout.Table{Gap: 3, Left: map[int]bool{0: true, 1: true}}
	for _, row := range w.rows {
		table.Add("  "+row.typed, row.ours)
	}
	if err := table.Print(&text); err != nil {
		return err
	}
	said := "read as words of another tool; see " + w.help + "\n" + text.String()
	if w.invalid != nil {
		said += w.invalid.Error() + "\n"
	}
	switch {
	case w.never != "":
		said += strings.Replace(w.never, " TOPICSETTINGS", w.topicSettings(), 1)
	case w.results != nil:
		said += "what was meant is\n  " + w.importLine()
	case known:
		said += "what was meant is\n  " + proposal.text()
		w.remark(proposal)
	case w.derived && !slices.ContainsFunc(w.rows, func(r otherRow) bool { return r.ours == notThere }):
		said += whichJob
	}
	for _, remark := range w.remarks {
		said += "\n" + remark
	}
	return errors.New(strings.TrimSpace(said))
}

// topicSettings returns those of a topic as flags.
func (w *otherWords) topicSettings() (text string) {
	for _, s := range w.all.Set {
		if strings.HasPrefix(s.Key, "topic.") {
			text += " --set " + shellWord(s.String())
		}
	}
	return text
}

// propose returns the command line that was meant; false if the words do not say which it is.
func (w *otherWords) propose() (p proposal, known bool) {
	if !w.derived || w.never != "" || w.results != nil {
		return p, false
	}
	p.redirect = w.redirect
	if w.instead != "" || !scenarios(w.c) {
		command := w.instead
		if command == "" {
			command = strings.TrimPrefix(w.c.CommandPath(), "kafka-bench ")
		}
		p.command, p.parts = slices.Concat(strings.Fields(command), w.scenarios), w.flags
		w.placeholders(&p)
		return p, true
	}
	if len(w.scenarios) > 0 {
		w.all.Scenario = w.scenarios[0]
	}
	all := w.all.Complete()
	unknown := slices.ContainsFunc(w.rows, func(r otherRow) bool { return strings.HasPrefix(r.ours, "unknown") })
	if all.Scenario == "" && (len(w.all.Set) > 0 || !unknown) {
		w.all.Scenario = w.otherwise
		all = w.all.Complete()
	}
	if all.Scenario == "" {
		return p, false
	}
	w.complete(&all)
	p.command = []string{w.c.Name()}
	if all.Command != "" {
		p.command[0] = all.Command
	}
	p.command = append(p.command, all.Scenario)
	p.command = slices.Concat(p.command, w.scenarios[min(1, len(w.scenarios)):])
	for _, flag := range all.Flags {
		name, value, valued := strings.Cut(flag, "=")
		args := []string{"--" + name, value}
		if !valued {
			args = args[:1]
		}
		p.parts = append(p.parts, proposed{args, name})
	}
	p.parts = w.once(append(p.parts, w.flags...))
	w.chosen(slices.Concat(all.Set, all.Varied))
	for _, s := range all.Set {
		p.parts = append(p.parts, proposed{[]string{"--set", s.String()}, s.Word})
	}
	w.remarks = append(w.remarks, all.Remarks...)
	return p, true
}

// chosen says which of several keys a word is.
func (w *otherWords) chosen(set []scenario.Setting) {
	for i, row := range w.rows {
		meaning, more, _ := strings.Cut(row.ours, ";")
		for _, s := range set {
			if len(row.set) == 1 && s.Word == row.set[0].Word && strings.Contains(meaning, ", or ") {
				w.rows[i].ours = strings.TrimSuffix(s.Key+";"+more, ";")
			}
		}
	}
}

// once leaves out all but the last of several values of a flag that takes one, and says it.
func (w *otherWords) once(parts []proposed) (kept []proposed) {
	for i, part := range parts {
		later := slices.IndexFunc(parts[i+1:], func(q proposed) bool { return q.flag() == part.flag() })
		if flag := w.c.Flags().Lookup(part.flag()); later < 0 || flag != nil && flag.Value.Type() == "stringArray" {
			kept = append(kept, part)
		} else if q := parts[i+1+later]; q.value() != part.value() {
			w.remarks = append(w.remarks, "--"+part.flag()+" is "+q.value()+", and not "+part.value())
		}
	}
	return kept
}

// needed are the flags and the argument that a command needs.
var needed = map[string]struct {
	flags          []string
	argument, mean string
}{
	"kmq tracker": {[]string{"group", "topic"}, "", "that of the queue"},
	inspectGroup:  {nil, "GROUP", "a group of yours"},
	"report":      {nil, "RUN", "the folder of a run"},
}

// placeholders adds what a command needs and the words do not have.
func (w *otherWords) placeholders(p *proposal) {
	n := needed[w.instead]
	var names []string
	for at, name := range n.flags {
		if !slices.ContainsFunc(p.parts, func(part proposed) bool { return part.word == name }) {
			names = append(names, strings.ToUpper(name))
			p.parts = slices.Insert(p.parts, min(at, len(names)-1), proposed{args: []string{"--" + name, strings.ToUpper(name)}})
		}
	}
	if n.argument != "" && len(w.scenarios) == 0 {
		p.command, names = append(p.command, n.argument), []string{n.argument}
	}
	for _, name := range names {
		w.remarks = append(w.remarks, name+" stands for "+n.mean)
	}
}

// complete adds what other tools take without a word.
func (w *otherWords) complete(all *scenario.Translation) {
	flagged := func(names ...string) bool {
		return slices.ContainsFunc(names, func(name string) bool {
			return slices.ContainsFunc(all.Flags, func(flag string) bool { return strings.HasPrefix(flag, name) }) ||
				slices.ContainsFunc(w.flags, func(p proposed) bool { return strings.HasPrefix(p.flag(), name) })
		})
	}
	existing := all.Scenario == "consume-only" && !all.Sets("topic.existing=null")
	fills := w.program == &otherPrograms[0] && all.Sets("load.records=")
	writes := all.Scenario == "produce-only" && (all.Sets("topic.name=") || fills)
	if writes {
		w.flags = append(w.flags, proposed{args: []string{"--keep-topics"}}) // the next command reads it
		if all.Sets("load.records=") {
			all.Set = append(all.Set, scenario.Setting{Key: "phases.warmup", Value: "0s"}) // so many in all
		}
	}
	if existing && !all.Sets("topic.existing=") && !flagged("merge") {
		all.Set = append(all.Set, scenario.Setting{Key: "topic.existing", Value: "TOPIC"})
		w.remarks = append(w.remarks, "topic.existing=TOPIC stands for a topic of yours")
	}
	there := existing || all.Sets("topic.existing=") && !all.Sets("topic.existing=null")
	if (there || writes || flagged("command-config")) && !flagged("brokers", "cluster") {
		all.Flags = append(all.Flags, "brokers=localhost:9092")
		w.remarks = append(w.remarks, "localhost:9092 stands for your brokers")
	}
}

// anID stands for the ID of a cluster that is not on this machine.
const anID = "5L6g3nShT-eMCtK--X86sw"

var brokersIn = regexp.MustCompile(`--brokers[ =](\S+)`)

// elsewhere reports whether the brokers are on other machines, and no ID is given.
func (p proposal) elsewhere() bool {
	line := p.text()
	brokers := brokersIn.FindStringSubmatch(line)
	return brokers != nil && !strings.Contains(line, "--cluster-id") && !loopback(strings.Split(brokers[1], ","))
}

// refusal returns the error with which this program refuses the command line; nil if it takes it.
func (w *otherWords) refusal(p proposal) error {
	root := rootCommand(surroundings{offline: true})
	c, rest, err := root.Find(p.args())
	if err != nil {
		return err
	}
	if c.Name() != "run" && c.Name() != "search" || slices.Contains(p.command, "-") {
		if err := c.ParseFlags(rest); err != nil {
			return err
		}
		return c.ValidateArgs(c.Flags().Args())
	}
	args := append(p.args(), "--dry-run")
	if p.elsewhere() {
		args = append(args, "--cluster-id", anID)
	}
	root.SetArgs(args)
	root.SetOut(io.Discard)
	root.SetErr(io.Discard)
	return root.ExecuteContext(w.ctx)
}

// mend leaves out the parts that this program refuses, and adds the reason to the row of each word. If no part is to
// blame, it adds the error to the remarks.
func (w *otherWords) mend(p *proposal) {
	err := w.refusal(*p)
	if bounded := p.bounded(); err != nil && w.refusal(bounded) == nil {
		w.remarks = append(w.remarks, "with load.volume, because "+err.Error())
		*p, err = bounded, nil
	}
	for err != nil {
		if above := (aboveCap{}); errors.As(err, &above) {
			w.remarks = append(w.remarks, "with "+above.flag+", because "+above.what+" on other machines")
			p.parts = slices.DeleteFunc(slices.Clone(p.parts), func(part proposed) bool { return "--"+part.flag() == above.flag })
			p.parts = append(p.parts, proposed{args: []string{above.flag, above.value}})
			err = w.refusal(*p)
			continue
		}
		at, problem := w.culprit(*p, err)
		if at < 0 {
			w.remarks = append(w.remarks, "and in it\n"+err.Error())
			return
		}
		w.leaveOut(p.parts[at], problem)
		p.parts = slices.Delete(slices.Clone(p.parts), at, at+1)
		err = w.refusal(*p)
	}
}

// bounded returns p with a load that ends after 5 GB, for a disk that is too small for the whole load.
func (p proposal) bounded() proposal {
	isVolume := func(part proposed) bool { return strings.HasPrefix(part.args[len(part.args)-1], "load.volume=") }
	p.parts = append(slices.DeleteFunc(slices.Clone(p.parts), isVolume), proposed{args: []string{"--set", "load.volume=5GB"}})
	return p
}

// culprit returns the part that an error is about, and what it says: the part that it names, the last one without which
// there is no error, or the last one without which it is another; -1 if there is none.
func (w *otherWords) culprit(p proposal, err error) (culprit int, problem string) {
	var mistakes scenario.Mistakes
	errors.As(err, &mistakes)
	for _, mistake := range mistakes {
		at := slices.IndexFunc(p.parts, func(part proposed) bool { return strings.Join(part.args, " ") == mistake.File })
		if at >= 0 {
			return at, strings.TrimPrefix(mistake.Error(), mistake.File+": ")
		}
	}
	problem, _, _ = strings.Cut(err.Error(), "\n")
	about := func(part proposed) bool { return exists(part.value()) && strings.Contains(problem, part.value()+":") } // a file
	if culprit = slices.IndexFunc(p.parts, about); culprit >= 0 {
		return culprit, problem
	}
	for at, part := range slices.Backward(p.parts) {
		q := p
		q.parts = slices.Delete(slices.Clone(p.parts), at, at+1)
		switch without := w.refusal(q); {
		case without == nil:
			return at, strings.TrimPrefix(problem, part.text()+": ")
		case culprit < 0 && without.Error() != err.Error():
			culprit = at
		}
	}
	return culprit, problem
}

func (w *otherWords) leaveOut(part proposed, problem string) {
	value := part.args[len(part.args)-1]
	for i, row := range w.rows {
		if row.word != "" && row.word == part.word || part.word != "" && strings.HasSuffix(row.typed, value) {
			w.rows[i].ours += "; left out: " + problem
			return
		}
	}
	w.remarks = append(w.remarks, "without "+value+", because "+problem)
}

// remark says what the command line does not.
func (w *otherWords) remark(p proposal) {
	if p.elsewhere() && (p.command[0] == "run" || p.command[0] == "search") {
		w.remarks = append(w.remarks, "without --cluster-id it prints the ID of this cluster, which is not on this machine, and ends; a dry run needs its brokers too")
	}
	if p.command[0] != "run" || len(p.command) < 2 {
		return
	}
	line, preset := p.text(), p.command[1]
	if strings.Contains(line, "consume.queue.engine=markers") {
		w.remarks = append(w.remarks, "engine markers is kmq's; plain is an ordinary consumer group")
	}
	if strings.Contains(line, "phases.measure=1h") && !slices.ContainsFunc(w.all.Set, isMeasure) {
		w.remarks = append(w.remarks, "phases.measure=1h: a reader ends at the topic's end, or after this time")
	}
	w.notTyped(p)
	if strings.Contains(line, "topic.fill_records") && preset == "consume-only" {
		w.remarks = append(w.remarks, "it fills a topic of its own before it reads it")
	}
	if name := topicName.FindStringSubmatch(line); name != nil {
		writes := map[bool]string{true: ", with --write-to " + name[1]}[preset != "consume-only"]
		w.remarks = append(w.remarks, "topic.name is a new topic; one that is there is topic.existing="+name[1]+writes)
	}
	perf := slices.ContainsFunc(w.all.Words, func(word string) bool { return word == "numrecords" || word == "throughput" })
	w.remarks = append(w.remarks, defaultsRemark(line, preset, perf, len(w.scenarios) > 0)...)
}

// notTyped names the settings that no word and no remark has.
func (w *otherWords) notTyped(p proposal) {
	var added []string
	for _, part := range p.parts {
		key, _, _ := strings.Cut(part.args[len(part.args)-1], "=")
		said := slices.ContainsFunc(w.remarks, func(remark string) bool { return strings.Contains(remark, key) })
		if part.flag() == "set" && part.word == "" && key != "variants" && !said {
			added = append(added, part.args[1])
		}
	}
	if added != nil {
		w.remarks = append(w.remarks, "not typed, and meant by the rest: "+strings.Join(added, ", "))
	}
}

func isMeasure(s scenario.Setting) bool { return s.Key == "phases.measure" }

var topicName = regexp.MustCompile(`--set topic\.name=(\S+)`)

// defaultsRemark says what a tool does without an option if the preset does it differently.
func defaultsRemark(line, preset string, perf, named bool) []string {
	queue, rate := strings.Contains(line, "consume.queue"), strings.Contains(line, "load.rate=")
	switch {
	case queue && preset == "baseline" && !rate:
		return []string{"baseline sends 10k/s of 512B; mqperf sends 100B as fast as it can: load.rate=max, load.record.size=100B"}
	case queue && preset == "consume-only" && !strings.Contains(line, "load.record.size="):
		return []string{"consume-only fills in records of 512B; mqperf's have 100B: load.record.size=100B"}
	case preset == "e2e" && !rate && strings.Contains(line, "load.records="):
		return []string{"e2e sends 1k/s by a schedule; Kafka's tool sends a record after the one before has arrived"}
	case preset == "produce-only" && perf && !strings.Contains(line, "load.acks="):
		return []string{"produce-only has acks 1 and batches of 64KiB; kafka-producer-perf-test has acks all and 16KiB"}
	case !named && slices.Contains(scenario.Names(), preset):
		return []string{"what it does not set is printed by kafka-bench show " + preset}
	}
	return nil
}
