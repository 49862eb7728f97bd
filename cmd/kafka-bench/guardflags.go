package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/run/bench"
)

// guardFlags say what keeps the runs of a command from doing harm to a cluster.
type guardFlags struct {
	minFree sizeValue
	anyway  bool
	groups  groupsValue
}

func addGuards(f *pflag.FlagSet, flags *guardFlags) {
	f.Var(&flags.minFree, "min-free",
		"what must stay free on each disk of the brokers; below it, a run ends (default: the greater of 5 GB and 5 %; on this machine at most half of what is free)")
	f.Var(&flags.groups, "watch-group",
		"a consumer `GROUP` of others: a run ends if its lag passes twice what it was, plus 1,000 records, or GROUP=RECORDS (may be repeated)")
	f.BoolVar(&flags.anyway, "anyway", false,
		"load the existing cluster even if partitions lack replicas or quotas throttle the run")
}

func (f guardFlags) guards() bench.Guards {
	g := bench.Guards{Anyway: f.anyway, Groups: f.groups}
	if f.minFree.given {
		g.MinFreeBytes = &f.minFree.bytes
	}
	return g
}

func (f guardFlags) words() (words []string) {
	if f.minFree.given {
		words = append(words, "--min-free", f.minFree.String())
	}
	for _, group := range f.groups.texts() {
		words = append(words, "--watch-group", group)
	}
	if f.anyway {
		words = append(words, "--anyway")
	}
	return words
}

// sizeValue is read like the sizes of a scenario.
type sizeValue struct {
	bytes int64
	text  string
	given bool
}

// String implements pflag.Value.
func (v *sizeValue) String() string { return v.text }

func (v *sizeValue) Set(text string) error {
	size, err := unit.ParseSize(text)
	*v = sizeValue{int64(size), text, true}
	return err
}

func (v *sizeValue) Type() string { return "size" }

// groupsValue has the most lag of each group; below 0 is the default.
type groupsValue map[string]int64

// String implements pflag.Value.
func (v *groupsValue) String() string { return strings.Join(v.texts(), ",") }

func (v *groupsValue) texts() (texts []string) {
	for group, most := range *v {
		if most >= 0 {
			group += "=" + strconv.FormatInt(most, 10)
		}
		texts = append(texts, group)
	}
	slices.Sort(texts)
	return texts
}

func (v *groupsValue) Set(text string) error {
	most := int64(-1)
	group := text
	if at := strings.LastIndex(text, "="); at >= 0 {
		n, err := strconv.ParseInt(text[at+1:], 10, 64)
		if err != nil || n < 0 {
			return fmt.Errorf("%q: write GROUP=RECORDS, as in billing=10000", text)
		}
		group, most = text[:at], n
	}
	if group == "" {
		return fmt.Errorf("%q names no group", text)
	}
	if *v == nil {
		*v = make(groupsValue)
	}
	(*v)[group] = most
	return nil
}

func (v *groupsValue) Type() string { return "string" }
