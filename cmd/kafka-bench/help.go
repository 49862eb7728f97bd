package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"kafkabench.example/kafka-bench/internal/show/layout"
)

// helpWidth is the width of a help text that is not for a terminal.
const helpWidth = 80

// flagGroup is the annotation of a flag with the heading below which a help text lists it.
const flagGroup = "kafka-bench flag group"

// addGroup adds flags to a command, and lists them below a heading of its help text.
func addGroup[T any](c *cobra.Command, heading string, add func(*cobra.Command, *T), flags *T) {
	add(c, flags)
	f := c.Flags()
	f.SortFlags = false // headings and flags in the order in which they are added
	f.VisitAll(func(flag *pflag.Flag) {
		if flag.Annotations[flagGroup] == nil {
			_ = f.SetAnnotation(flag.Name, flagGroup, []string{heading}) // fails only for an unknown flag
		}
	})
}

// printHelp is the help of every command, within the width of the terminal.
func printHelp(c *cobra.Command, _ []string) {
	width := helpWidth
	if columns := columnsOf(c.OutOrStdout()); columns > 0 {
		width = min(max(columns, helpWidth), layout.Width)
	}
	var b strings.Builder
	text := c.Long
	if text == "" {
		text = c.Short
	}
	b.WriteString(reflow(text, width) + "\n\nUsage:\n")
	if c.Runnable() {
		fmt.Fprintf(&b, "  %s\n", c.UseLine())
	}
	if c.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "  %s [command]\n", c.CommandPath())
	}
	if c.Example != "" {
		b.WriteString("\nExamples:\n")
		for line := range strings.SplitSeq(c.Example, "\n") {
			b.WriteString(wrapCommand(line, width) + "\n")
		}
	}
	if c.HasAvailableSubCommands() {
		b.WriteString("\nCommands:\n")
		table := layout.Table{Gap: 2, Left: map[int]bool{1: true}}
		for _, child := range c.Commands() {
			if child.IsAvailableCommand() {
				table.Add("  "+child.Name(), child.Short)
			}
		}
		b.WriteString(strings.Join(append(table.Fit(width), ""), "\n"))
	}
	writeFlags(&b, c, width)
	if c.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "\nUse \"%s [command] --help\" for more about a command.\n", c.CommandPath())
	}
	fmt.Fprint(c.OutOrStdout(), b.String())
}

func writeFlags(b *strings.Builder, c *cobra.Command, width int) {
	var headings []string
	groups := map[string]*pflag.FlagSet{}
	c.Flags().VisitAll(func(flag *pflag.Flag) {
		heading := strings.Join(flag.Annotations[flagGroup], "")
		if groups[heading] == nil {
			headings = append(headings, heading)
			groups[heading] = pflag.NewFlagSet(heading, pflag.ContinueOnError)
			groups[heading].SortFlags = c.Flags().SortFlags
		}
		groups[heading].AddFlag(flag)
	})
	for _, heading := range headings {
		usages := groups[heading].FlagUsagesWrapped(width)
		switch {
		case usages == "":
			continue
		case heading == "" && len(headings) > 1:
			heading = "Other flags"
		case heading == "":
			heading = "Flags"
		}
		fmt.Fprintf(b, "\n%s:\n%s", heading, usages)
	}
}

// reflow wraps the paragraphs of a text. Lines that begin with a space stay as they are.
func reflow(text string, width int) string {
	var lines []string
	paragraph := ""
	end := func() {
		if paragraph != "" {
			lines = append(lines, layout.WrapWords(paragraph, width)...)
		}
		paragraph = ""
	}
	for line := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		switch {
		case line == "" || strings.HasPrefix(line, " "):
			end()
			lines = append(lines, line)
		case paragraph == "":
			paragraph = line
		default:
			paragraph += " " + line
		}
	}
	end()
	return strings.Join(lines, "\n")
}

// wrapCommand breaks a command line before flags, as a shell continues it.
func wrapCommand(line string, width int) string {
	var lines []string
	for layout.Columns(line) > width {
		at := strings.LastIndex(line[:width-1], " -")
		if at <= len("    ") {
			break
		}
		lines = append(lines, line[:at]+` \`)
		line = "     " + line[at:]
	}
	return strings.Join(append(lines, line), "\n")
}
