package main

import (
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"kafkabench.example/kafka-bench/internal/show/junit"
	"kafkabench.example/kafka-bench/internal/show/report"
)

// ownResult is the text of a file that an earlier command wrote to --junit or --out-file.
var ownResult = regexp.MustCompile(`^(?:<\?xml .*\n<testsuites |[^\n]+\n$)`)

// removeStale removes what an earlier command wrote to the files of --junit and --out-file, so that a CI server does not
// take it for a result of a command line that is refused.
func removeStale(c *cobra.Command, args []string) {
	for _, flag := range []string{"junit", "out-file"} {
		file := fileOf(c, flag, args)
		if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() {
			continue
		}
		if text, err := os.ReadFile(file); err == nil && ownResult.Match(text) {
			_ = os.Remove(file) // or else checkFile refuses it
		}
	}
}

// writeRefused writes why a command line was refused to the file of --junit, if nothing was written yet.
func writeRefused(c *cobra.Command, args []string, refused error) {
	file := fileOf(c, "junit", args)
	if file == "" || exists(file) || checkFile("--junit", file, junitFile) != nil {
		return
	}
	_ = writeJUnit(file, junit.Of(c.CommandPath(), report.Judgement{}, refused)) // the error is printed in any case
}

// fileOf finds the file of a flag in arguments that may be wrong; "" without one, and if the command writes no file.
func fileOf(c *cobra.Command, flag string, args []string) string {
	if c.Flags().Lookup(flag) == nil || slices.ContainsFunc(args, func(arg string) bool {
		return slices.Contains([]string{"--dry-run", "--help", "-h"}, arg)
	}) {
		return ""
	}
	for i, arg := range args {
		if file, is := strings.CutPrefix(arg, "--"+flag+"="); is {
			return file
		}
		if arg == "--"+flag && i+1 < len(args) {
			return args[i+1]
		}
	}
	return ""
}
