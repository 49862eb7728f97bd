package main

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/result/figure"
	"kafkabench.example/kafka-bench/internal/show/chart"
)

// flagValues has the values of flags that a shell completes. They are the same in all commands.
var flagValues = map[string]func() []string{
	"driver":    driverNames,
	"cluster":   func() []string { return append([]string{cluster.KindKafka, cluster.KindEmbedded}, clusterNames()...) },
	"name":      clusterNames,
	"figure":    figureNames,
	"figures":   figureNames,
	"by":        figureNames,
	"expect":    figureNames, // the rest of the expectation follows
	"fail-if":   figureNames,
	"merge":     scenario.Names,
	"progress":  func() []string { return []string{shortProgress, fullProgress} },
	"order":     func() []string { return []string{scenario.Interleaved, scenario.Blocked} },
	"placement": func() []string { return []string{"own", "any", "apart"} },
}

// addCompletion completes the flags and arguments of all commands in a shell: see kafka-bench completion --help.
func addCompletion(c *cobra.Command) {
	for _, child := range c.Commands() {
		addCompletion(child)
	}
	add := func(f *pflag.Flag) {
		values := flagValues[f.Name]
		if f.Name == "format" {
			values = func() []string { return choices(f.Usage) }
		}
		if values != nil {
			_ = c.RegisterFlagCompletionFunc(f.Name, completes(values, directive(f.Name))) // fails only for an unknown flag
		}
	}
	c.LocalNonPersistentFlags().VisitAll(add)
	c.PersistentFlags().VisitAll(add)
	switch {
	case strings.Contains(c.Use, "SCENARIO"):
		c.ValidArgsFunction = completes(scenario.Names, cobra.ShellCompDirectiveDefault) // and files
	case strings.HasPrefix(c.Use, "chart "):
		c.ValidArgsFunction = completes(chartNames, cobra.ShellCompDirectiveDefault)
	}
}

func completes(words func() []string, how cobra.ShellCompDirective) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
		return completed(words(), word), how
	}
}

func directive(flag string) cobra.ShellCompDirective {
	switch flag {
	case "merge": // files too
		return cobra.ShellCompDirectiveDefault
	case "expect", "fail-if", "figures":
		return cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
	return cobra.ShellCompDirectiveNoFileComp
}

// completed returns the words that begin with a word. Of a list with commas, the last item is completed.
func completed(words []string, word string) (found []string) {
	before := word[:strings.LastIndex(word, ",")+1]
	for _, one := range words {
		if strings.HasPrefix(before+one, word) {
			found = append(found, before+one)
		}
	}
	return found
}

// choices returns the values in a usage such as "text, csv or json".
func choices(usage string) []string {
	return strings.FieldsFunc(strings.ReplaceAll(usage, " or ", ","), func(r rune) bool { return r == ',' || r == ' ' })
}

func clusterNames() []string {
	home, err := cluster.UserHome()
	if err != nil {
		return nil
	}
	return home.Names()
}

func chartNames() (names []string) {
	for _, c := range chart.All() {
		names = append(names, c.Name)
	}
	return names
}

func figureNames() (names []string) {
	for _, f := range figure.All() {
		names = append(names, f.Name)
	}
	return names
}
