// Command breaks makes the code wrong once for each invariant and sees that a test fails.
//
//	go run ./internal/project/breaks
//	go run ./internal/project/breaks -only two-cursors,late-zero
//	go run ./internal/project/breaks -random 5
//	go run ./internal/project/breaks -list
//
// breaks.yaml is the list of invariants: what holds, one or more small changes of the code, and
// the tests. The command gives the changed file to go test as an overlay and never writes the
// tree. If a test passes with broken code, the test cannot fail, or it does not test the
// invariant. After a change, -list shows which tests protect what was changed.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"time"
)

func main() {
	if err := run(".", os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// The error says how many breaks no test noticed.
func run(dir string, args []string, stdout io.Writer) error {
	flags := flag.NewFlagSet("breaks", flag.ContinueOnError)
	only := flags.String("only", "", "names of invariants, with commas between them; all without")
	random := flags.Int("random", 0, "how many breaks to draw; all without")
	list := flags.Bool("list", false, "print the invariants with their tests; run nothing")
	seed := flags.Uint64("seed", uint64(time.Now().UnixNano()), "of the draw")
	if err := flags.Parse(args); err != nil {
		return err
	}
	all, err := readBreaks(dir)
	if err != nil {
		return err
	}
	if all, err = named(all, *only); err != nil {
		return err
	}
	if *list {
		printList(stdout, dir, all)
		return nil
	}
	if *random > 0 && *random < len(all) {
		fmt.Fprintln(stdout, "seed", *seed)
		draw := rand.New(rand.NewPCG(*seed, 0))
		draw.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		all = all[:*random]
	}
	var unnoticed []string
	whole := make(map[string]error) // the result of each test on the unchanged code, by package and name
	for _, b := range all {
		fmt.Fprintf(stdout, "%s\n%s\n", b.Invariant, b.describe(dir))
		test := b.Test.Package + " " + b.Test.Run
		if _, known := whole[test]; !known {
			whole[test] = b.passes(dir)
		}
		answer, err := b.try(dir)
		switch err = errors.Join(whole[test], err); {
		case err != nil:
			fmt.Fprintf(stdout, "    CANNOT BE TRIED: %v\n", err)
			unnoticed = append(unnoticed, b.Invariant)
		case answer.failed:
			fmt.Fprintf(stdout, "    %s failed in %s: %s\n", b.Test.Run, answer.took, answer.line)
		default:
			fmt.Fprintf(stdout, "    %s PASSED in %s\n", b.Test.Run, answer.took)
			unnoticed = append(unnoticed, b.Invariant)
		}
	}
	fmt.Fprintf(stdout, "%d breaks, %d noticed\n", len(all), len(all)-len(unnoticed))
	if len(unnoticed) > 0 {
		return fmt.Errorf("no test noticed the breaks of %s", strings.Join(unnoticed, ", "))
	}
	return nil
}

func printList(w io.Writer, dir string, all []broken) {
	fmt.Fprintln(w, "A test runs with: go test -tags synctests,full,proof -run NAME ./FOLDER")
	for _, b := range all {
		if b.Holds != "" {
			fmt.Fprintf(w, "\n%s: %s.\n", b.Invariant, b.Holds)
		}
		fmt.Fprintf(w, "%s\n    %s\n", b.describe(dir), strings.Join(b.tests(), ", "))
	}
}

func named(all []broken, only string) ([]broken, error) {
	if only == "" {
		return all, nil
	}
	var some []broken
	for name := range strings.SplitSeq(only, ",") {
		before := len(some)
		for _, b := range all {
			if b.Invariant == name {
				some = append(some, b)
			}
		}
		if len(some) == before {
			return nil, fmt.Errorf("no break is named %q; choose among %s", name, strings.Join(names(all), ", "))
		}
	}
	return some, nil
}

func names(all []broken) []string {
	var names []string
	for _, b := range all {
		names = append(names, b.Invariant)
	}
	return slices.Compact(names)
}
