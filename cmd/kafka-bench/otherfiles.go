package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/foreign"
)

// optionsOfFile returns the options of a file of another tool; nil for a file that is none.
func optionsOfFile(path string) []scenario.Option {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	return scenario.OtherOptions(text)
}

// maxDetected bounds the files of a folder, and the bytes of a file, that are read to say what they are.
const (
	maxDetected      = 50
	maxDetectedBytes = 16 << 20
)

// isResultElsewhere reports whether a file is another tool's result that import takes.
func isResultElsewhere(path string) bool {
	if info, err := os.Stat(path); err != nil || info.IsDir() || info.Size() > maxDetectedBytes {
		return false
	}
	found, err := foreign.Read(path, foreign.Options{HlogUnit: time.Microsecond})
	return err == nil && len(found) > 0
}

// resultsElsewhere returns the results of other tools that path is, or has in it.
func resultsElsewhere(path string) (found []string) {
	entries, err := os.ReadDir(path)
	if err != nil {
		if isResultElsewhere(path) {
			return []string{path}
		}
		return nil
	}
	for _, entry := range entries[:min(len(entries), maxDetected)] {
		if file := filepath.Join(path, entry.Name()); !entry.IsDir() && isResultElsewhere(file) {
			found = append(found, file)
		}
	}
	return found
}

var metricsPage = regexp.MustCompile(`(?m)^# (?:TYPE|HELP) [a-z]|"resultType"\s*:|"__name__"\s*:`)

// foreignArgument says what an argument is that should be a folder of runs; "" if it is one, or not there.
func foreignArgument(path string) (is string, results []string) {
	info, err := os.Stat(path)
	switch held, _ := result.List(path); {
	case err != nil || len(held) > 0 || isRunFolder(path):
		return "", nil
	default:
		results = resultsElsewhere(path)
	}
	text, _ := os.ReadFile(path)
	switch {
	case len(results) == 1 && results[0] == path:
		return "a result of another tool; import makes a run of it", results
	case len(results) > 0:
		return fmt.Sprintf("%s of another tool in it; import makes runs", count(len(results), "result")), results
	case info.IsDir():
		return "", nil
	case metricsPage.Match(text):
		return "metrics of Prometheus, which are not imported; kafka-bench import --help says what is", nil
	case len(optionsOfFile(path)) > 0:
		return "settings of another tool; kafka-bench run " + shellWord(path) + " says what they are here", nil
	case slices.Contains([]string{".yaml", ".yml"}, filepath.Ext(path)):
		return "a scenario? kafka-bench run " + shellWord(path) + " runs one", nil
	}
	return "a file, and no result that import knows; a run is a folder, see kafka-bench list", nil
}

func isRunFolder(path string) bool {
	for _, name := range []string{result.SummaryFile, result.CampaignFile} {
		if _, err := os.Stat(filepath.Join(path, name)); err == nil {
			return true
		}
	}
	return false
}

// takesRuns has the commands whose arguments are folders of runs.
var takesRuns = []string{"report", "compare", "serve", "list", "chart", "history"}

// foreignFiles explains all arguments of a failed command that are files of other tools. It returns err if there are none.
func foreignFiles(c *cobra.Command, err error) error {
	if !slices.Contains(takesRuns, c.Name()) {
		return err
	}
	w := otherWords{c: c, help: c.CommandPath() + " --help"}
	var paths []string
	for _, arg := range c.Flags().Args() {
		paths = append(paths, strings.Split(arg, ",")...)
	}
	if w.foreign(paths); len(w.rows) == 0 {
		return err
	}
	return w.answer()
}

// foreign takes arguments that should be folders of runs.
func (w *otherWords) foreign(paths []string) {
	for _, path := range paths {
		is, results := foreignArgument(path)
		if is == "" && !exists(path) && strings.ContainsAny(path, `./\`) {
			is = "not there"
		}
		if is != "" && (is != "not there" || len(paths) > 1) {
			w.say(path, is)
		}
		if w.results = append(w.results, results...); is != "" && is != "not there" {
			w.scenarios = slices.DeleteFunc(slices.Clone(w.scenarios), func(arg string) bool { return arg == path })
		}
		if len(results) > 1 || len(results) == 1 && results[0] != path {
			w.folders = append(w.folders, results)
		}
	}
	if w.results != nil {
		w.derived = true
	} else if !slices.ContainsFunc(w.rows, func(r otherRow) bool { return r.ours != "not there" }) {
		w.rows = nil
	}
}

// importLine has a line for the results of each folder if there are several, and else one.
func (w *otherWords) importLine() string {
	groups, then := w.folders, ""
	if len(groups) < 2 {
		groups, then = [][]string{w.results}, " with the folders that it prints"
	}
	var lines []string
	for i, results := range groups {
		line, out := "kafka-bench import", "imported"
		for _, path := range results {
			line += " " + shellWord(path)
		}
		if slices.ContainsFunc(results, func(path string) bool { return filepath.Ext(path) == ".hgrm" }) {
			line += " --hlog-unit us"
			w.remarks = append(w.remarks, "us stands for the unit of the table: ns, us or ms")
		}
		if len(groups) > 1 {
			out += fmt.Sprintf("-%d", i+1)
			then += " " + out
		}
		lines = append(lines, line+" --out "+out)
	}
	w.remarks = append(slices.Compact(w.remarks), "and then kafka-bench "+w.c.Name()+then)
	return strings.Join(lines, "\n  ")
}
