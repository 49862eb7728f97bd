package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"kafkabench.example/kafka-bench/internal/plan/unit"
)

// listValue is a list with commas; spaces around an item, and empty items, are left out. The flag may be repeated.
type listValue struct {
	items *[]string
	given bool // the default is replaced
}

func addList(f *pflag.FlagSet, items *[]string, name string, otherwise []string, usage string) {
	*items = otherwise
	f.Var(&listValue{items: items}, name, usage)
}

// String implements pflag.Value.
func (l *listValue) String() string {
	if l.items == nil {
		return ""
	}
	return strings.Join(*l.items, ",")
}

func (l *listValue) Set(text string) error {
	if !l.given {
		*l.items, l.given = nil, true
	}
	for item := range strings.SplitSeq(text, ",") {
		if item = strings.TrimSpace(item); item != "" {
			*l.items = append(*l.items, item)
		}
	}
	return nil
}

func (l *listValue) Type() string { return "strings" }

// durationValue is read like the times of a scenario.
type durationValue time.Duration

func addDuration(f *pflag.FlagSet, d *time.Duration, name string, otherwise time.Duration, usage string) {
	*d = otherwise
	f.Var((*durationValue)(d), name, usage)
}

// String implements pflag.Value.
func (d *durationValue) String() string {
	if *d == 0 {
		return "" // a default of 0 is not printed
	}
	return unit.Duration(*d).String()
}

func (d *durationValue) Set(text string) error {
	parsed, err := unit.ParseDuration(text)
	*d = durationValue(parsed)
	return err
}

func (d *durationValue) Type() string { return "duration" }

// valueError returns the error of a flag's value in our words. Only the flag library's numbers and truth values do not
// have them.
func valueError(flag *pflag.Flag, value string, cause error) error {
	var number *strconv.NumError
	if !errors.As(cause, &number) {
		return fmt.Errorf("--%s: %w", flag.Name, cause)
	}
	what := map[string]string{
		"bool": "a truth value; write true or false", "float64": "a number; write it as 0.05",
	}[flag.Value.Type()]
	switch {
	case errors.Is(cause, strconv.ErrRange):
		return fmt.Errorf("--%s: %q is out of range", flag.Name, value)
	case what == "":
		what = "a whole number; write it as 12"
	}
	return fmt.Errorf("--%s: %q is not %s", flag.Name, value, what)
}
