// Command proof runs everything that takes hours: groups of slow tests, one after the other.
//
//	make proof               every group that has not passed with the present code
//	make proof SINCE=REF     only groups with a package that changed since REF
//	make proof ONLY=a,b      only these groups
//	make proof FRESH=1       also groups that have passed
//	make proof LIST=1        print the groups, run nothing; with ONLY=breaks, the invariants
//
// A group that passes leaves a stamp in bin/proof: a checksum over its definition and all
// files of this module that it depends on. A second call continues where the first one
// stopped. Each group's output is also in bin/proof/NAME.log.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"text/tabwriter"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, ".", all, os.Args[1:], os.Stdout)
	stop()
	switch {
	case err == nil || errors.Is(err, flag.ErrHelp):
		return
	case errors.Is(err, errInput):
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(2)
	}
	fmt.Fprintln(os.Stderr, "error:", err)
	os.Exit(1)
}

// Wrong arguments: nothing ran.
var errInput = errors.New("proof")

func run(ctx context.Context, dir string, groups []group, args []string, stdout io.Writer) error {
	flags := flag.NewFlagSet("proof", flag.ContinueOnError)
	list := flags.Bool("list", false, "print the groups")
	since := flags.String("since", "", "run only groups with a package that changed since this commit")
	only := flags.String("only", "", "run only these groups, separated by commas")
	fresh := flags.Bool("fresh", false, "run groups that have passed, too")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return err
	} else if err != nil {
		return fmt.Errorf("%w: %w", errInput, err)
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("%w: %q is not a flag", errInput, flags.Arg(0))
	}
	chosen, err := choose(groups, *only)
	if err != nil {
		return err
	}
	if *list {
		return printGroups(stdout, chosen)
	}
	p, err := open(ctx, dir, stdout)
	if err != nil {
		return err
	}
	p.fresh = *fresh
	if *since != "" {
		if p.changed, err = p.tree.changed(ctx, *since); err != nil {
			return err
		}
	}
	return p.run(ctx, groups, chosen)
}

func choose(groups []group, only string) ([]group, error) {
	if only == "" {
		return groups, nil
	}
	names := strings.Split(only, ",")
	for _, name := range names {
		if !slices.ContainsFunc(groups, func(g group) bool { return g.name == name }) {
			return nil, fmt.Errorf("%w: ONLY=%s: there is no group %q; make proof LIST=1 prints them", errInput, only, name)
		}
	}
	var chosen []group
	for _, g := range groups {
		if slices.Contains(names, g.name) {
			chosen = append(chosen, g)
		}
	}
	return chosen, nil
}

func printGroups(w io.Writer, groups []group) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, g := range groups {
		fmt.Fprintf(t, "%s\t%s\t%s\n", g.name, g.why, strings.Join(g.args(), " "))
	}
	return t.Flush()
}
