package main

import (
	"cmp"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"kafkabench.example/kafka-bench/internal/plan/spelling"
)

// command takes a word that stands for a command: another tool's program, a preset's name, or a mistyped command. It
// returns the other arguments.
func (w *otherWords) command(root *cobra.Command, args []string) []string {
	if len(args) > 0 && isScenario(args[0]) && !isFlag(args[0]) {
		if len(optionsOfFile(args[0])) == 0 {
			w.say(args[0], "a scenario, for the command run")
			w.derived = true
		}
		return args
	}
	if args = w.programAt(root, args, false); w.program != nil || len(args) == 0 || isFlag(args[0]) || isSetting(args[0]) {
		return args
	}
	byName := make(map[string]*cobra.Command)
	for _, c := range root.Commands() {
		if !c.Hidden {
			byName[c.Name()] = c
		}
	}
	near := byName[spelling.Nearest(args[0], slices.Sorted(maps.Keys(byName)))]
	if near == nil {
		return args
	}
	w.say(args[0], "did you mean the command "+near.Name()+"?")
	if w.derived = true; scenarios(near) {
		w.c = near
	} else {
		w.instead, w.c = near.Name(), near
	}
	return args[1:]
}

// programAt takes the name of another tool's program, and what starts it. It returns the other arguments. Behind run, a
// plain word is only a program if it reads or writes.
func (w *otherWords) programAt(root *cobra.Command, args []string, behindRun bool) []string {
	if len(args) == 0 {
		return args
	}
	launcher, launched := launcherNamed(args[0])
	if launched { // sbt 'runMain Class'
		args = splitWords(args)
	}
	at := findProgram(args, launched)
	if behindRun && at == 0 && !looksLikeProgram(args[0]) && !readsOrWrites(programNamed(args[0])) {
		at = -1
	}
	switch {
	case at >= 0:
		w.program = programNamed(args[at])
		args = w.inFront(args, at)
	case launched:
		w.say(args[0], "nothing: it starts a program")
		w.setWords(launcher.words)
		return slices.DeleteFunc(slices.Clone(args[1:]), func(arg string) bool {
			playbook := len(launcher.words) > 0 && !isFlag(arg) && slices.Contains([]string{".yml", ".yaml"}, filepath.Ext(arg))
			if playbook {
				w.say(arg, "nothing: what is started")
			}
			return playbook
		})
	default:
		if w.program = programOfOptions(args); w.program == nil {
			return args
		}
	}
	w.takeProgram(root, args)
	return args
}

// splitWords splits the arguments that hold a program and its arguments.
func splitWords(args []string) (words []string) {
	for _, arg := range args {
		if fields := strings.Fields(arg); len(fields) > 0 && programNamed(fields[len(fields)-1]) != nil {
			words = append(words, fields...)
		} else {
			words = append(words, arg)
		}
	}
	return words
}

// readsOrWrites reports whether a program does one half of a pipeline.
func readsOrWrites(p *otherProgram) bool {
	return p != nil && (p.meant == "run produce-only" || p.meant == "run consume-only")
}

// inFront says what stands in front of the program, and its name. It returns the other arguments.
func (w *otherWords) inFront(args []string, at int) []string {
	var kept, front []string
	for _, arg := range args[:at] {
		if strings.HasPrefix(arg, "-D") || isSetting(arg) {
			kept = append(kept, arg)
		} else {
			front = append(front, arg)
		}
	}
	if len(front) > 0 {
		w.say(strings.Join(front, " "), "nothing: it starts the program")
	}
	said := "" // by the answer
	if meant, _ := w.program.job(args); meant != "" {
		said = "the command " + meant
	}
	w.say(args[at], cmp.Or(said, "no command here"))
	return slices.Concat(kept, args[at+1:])
}

// takeProgram takes what the program does, and its own words.
func (w *otherWords) takeProgram(root *cobra.Command, args []string) {
	w.setWords(w.program.words)
	meant, never := w.program.job(args)
	if w.meant, w.never = meant, never; meant == "" {
		return
	}
	command, preset, _ := strings.Cut(meant, " ")
	w.derived = true
	switch {
	case preset == "baseline":
		w.otherwise = preset
	case command == "run":
		w.all.Scenario = preset
	case command == "search":
		w.all.Command = command
		preset, curve := strings.CutSuffix(preset, " --curve")
		if w.all.Scenario = preset; curve {
			w.all.Flags = append(w.all.Flags, "curve")
		}
	default:
		w.instead = meant
		w.c, _, _ = root.Find(strings.Fields(meant)) // its flags
	}
}

func (w *otherWords) setWords(words map[string]string) {
	w.words = make(map[string]string)
	for theirs, name := range words {
		if len(theirs) > 1 {
			theirs = plainName(theirs)
		}
		w.words[theirs] = name
	}
}

// rename returns the name that an option of the program has elsewhere.
func (w *otherWords) rename(name string) string {
	if len(name) == 1 {
		return cmp.Or(w.words[name], name)
	}
	last := name[strings.LastIndex(name, ".")+1:]
	for _, unit := range []string{"ms", "millis", "seconds", "secs"} { // kept for the value
		if stem, is := strings.CutSuffix(plainName(last), unit); is && w.words[stem] != "" {
			return w.words[stem] + "-" + unit
		}
	}
	return cmp.Or(w.words[plainName(name)], w.words[plainName(last)], wordsElsewhere[plainName(name)], name)
}
