package main

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/run/bench"
	"kafkabench.example/kafka-bench/internal/run/campaign"
)

// guardFlags say what keeps the runs of a command from doing harm to a cluster.
type guardFlags struct {
	minFree  sizeValue
	anyway   bool
	groups   groupsValue
	maxRate  rateValue
	maxBytes sizeValue
	maxTime  time.Duration
}

// Caps of a command on a cluster that is not on this machine, or that is named by its ID.
const (
	capRate  = 10_000 // records/s
	capBytes = 10_000_000_000
	capTime  = 15 * time.Minute
)

const longestSum = 2_562_047 * time.Hour // of an int64

func addGuards(f *pflag.FlagSet, flags *guardFlags) {
	f.Var(&flags.minFree, "min-free",
		"what must stay free on each disk of the brokers; below it, a run ends (default: the greater of 5 GB and 5 %; on this machine at most half of what is free)")
	f.Var(&flags.groups, "watch-group",
		"a consumer `GROUP` of others: a run ends if its lag passes twice what it was, plus 1,000 records, or GROUP=RECORDS (may be repeated)")
	f.Var(&flags.maxRate, "max-rate",
		"the highest rate of a run; also of a closed loop and of search (default: none, or 10k/s with --cluster-id)")
	f.Var(&flags.maxBytes, "max-bytes",
		"the most bytes that the runs store at a time, with replicas and fills (default: none, or 10 GB with --cluster-id)")
	addDuration(f, &flags.maxTime, "max-time", 0,
		"how long the runs of the command may load the cluster (default: no bound, or 15m with --cluster-id)")
	f.BoolVar(&flags.anyway, "anyway", false,
		"load the existing cluster even if partitions lack replicas or quotas throttle the run")
}

func (f guardFlags) guards() bench.Guards {
	g := bench.Guards{Anyway: f.anyway, Groups: f.groups, MaxBytesStated: f.maxBytes.given}
	if f.minFree.given {
		g.MinFreeBytes = &f.minFree.bytes
	}
	return g
}

func (f guardFlags) words() (words []string) {
	if f.minFree.given {
		words = append(words, "--min-free", f.minFree.String())
	}
	if f.maxRate.given {
		words = append(words, "--max-rate", f.maxRate.String())
	}
	if f.maxBytes.given {
		words = append(words, "--max-bytes", f.maxBytes.String())
	}
	if f.maxTime > 0 {
		words = append(words, "--max-time", unit.Duration(f.maxTime).String())
	}
	for _, group := range f.groups.texts() {
		words = append(words, "--watch-group", group)
	}
	if f.anyway {
		words = append(words, "--anyway")
	}
	return words
}

// caps bound what the runs of a command do to a cluster. 0 is no bound.
type caps struct {
	rate  unit.Rate
	bytes int64
	time  time.Duration
}

func (f engineFlags) caps() (c caps) {
	// Without its ID, a cluster that advertises an address of another machine is refused; with it, the given
	// addresses may be those of a tunnel.
	if len(f.brokers) > 0 && (f.clusterID != "" || !loopback(f.brokers)) {
		c = caps{unit.Rate{Records: capRate, Per: time.Second}, capBytes, capTime}
	}
	if f.maxRate.given {
		c.rate = f.maxRate.rate
	}
	if f.maxBytes.given {
		c.bytes = f.maxBytes.bytes
	}
	if f.maxTime > 0 {
		c.time = f.maxTime
	}
	return c
}

func (c caps) String() string {
	var parts []string
	if c.rate.Records > 0 {
		parts = append(parts, c.rate.String()+" (--max-rate)")
	}
	if c.bytes > 0 {
		parts = append(parts, unit.Bytes(c.bytes)+" stored (--max-bytes)")
	}
	if c.time > 0 {
		parts = append(parts, unit.Span(c.time)+" (--max-time)")
	}
	return strings.Join(parts, ", ")
}

// pace bounds the rate of what a scenario sends without a schedule.
func (c caps) pace(s scenario.Scenario) scenario.Scenario {
	if c.rate.Records > 0 && s.Unpaced() &&
		(s.Load.MaxRate.Records == 0 || s.Load.MaxRate.PerSecond() > c.rate.PerSecond()) {
		s.Load.MaxRate = c.rate
	}
	return s
}

// aboveCap is what a plan needs and a cap forbids, with the flag and its value that allow it.
type aboveCap struct{ what, flag, value string }

func (a aboveCap) Error() string {
	return fmt.Sprintf("%s; if that is meant, give %s %s", a.what, a.flag, a.value)
}

// capped returns the plan with its closed loops and fills bounded, or what of it is above a cap.
func (f engineFlags) capped(p campaign.Plan) (campaign.Plan, error) {
	c := f.caps()
	p.Cells = slices.Clone(p.Cells)
	for i, cell := range p.Cells {
		p.Cells[i].Scenario = c.pace(cell.Scenario)
	}
	return p, f.within(p, p.Runs)
}

// within returns what of the runs is above a cap.
func (f engineFlags) within(p campaign.Plan, runs []campaign.PlannedRun) error {
	c := f.caps()
	var faults []error
	for i, cell := range p.Cells {
		if campaign.Rounds(runs, i) > 0 {
			faults = append(faults, c.check(cell.Scenario))
		}
	}
	needs := p.Needs(runs, f.keepTopics)
	if needs.Saturated() {
		return errors.Join(append(faults, fmt.Errorf("the runs send more than %s or take more than %s, and are no runs that can be made; "+
			"make fewer, or lower load.rate, load.records, load.record.size or phases.measure",
			unit.Bytes(math.MaxInt64), unit.Span(longestSum)))...)
	}
	if c.bytes > 0 && needs.DiskBytes > c.bytes {
		faults = append(faults, aboveCap{fmt.Sprintf("the runs store %s at a time, and the most is %s",
			storing(needs), unit.Bytes(c.bytes)), "--max-bytes", fmt.Sprintf("%dB", needs.DiskBytes)})
	}
	if c.time > 0 && needs.Least > c.time {
		faults = append(faults, aboveCap{fmt.Sprintf("the runs take at least %s, and the most is %s", unit.Span(needs.Least), unit.Span(c.time)),
			"--max-time", unit.Duration(needs.Least.Truncate(time.Minute) + time.Minute).String()})
	}
	return errors.Join(faults...)
}

// replicated holds the runs of a plan to the caps again when a cluster has reported the replicas of an existing topic. It
// notes them in the plan.
func (f engineFlags) replicated(p *campaign.Plan, runs []campaign.PlannedRun) func(topic string, replicas int) error {
	p.Replicas = make(map[string]int)
	return func(topic string, replicas int) error {
		p.Replicas[topic] = replicas
		return f.within(*p, runs)
	}
}

// check returns what of a scenario is above the cap of the rate, or has no bound. A plan that is resumed may be of a
// command with other caps.
func (c caps) check(s scenario.Scenario) error {
	peak := s.Peak()
	if s.Unpaced() && s.Load.MaxRate.PerSecond() > peak.PerSecond() {
		peak = s.Load.MaxRate
	}
	switch {
	case c.rate.Records > 0 && s.Unpaced() && s.Load.MaxRate.Records == 0:
		return fmt.Errorf("scenario %s sends as fast as it goes, and the most is %s; begin it again, without --resume", s.Name, c.rate)
	case c.rate.Records > 0 && peak.PerSecond() > c.rate.PerSecond():
		return aboveCap{fmt.Sprintf("scenario %s offers up to %s, and the most is %s", s.Name, peak, c.rate), "--max-rate", peak.String()}
	case c.bytes > 0 && s.Expected().Unbounded:
		return fmt.Errorf("--max-bytes: scenario %s sends as fast as it goes, so that nothing bounds what it stores; "+
			"give --max-rate, load.volume or load.records too", s.Name)
	}
	return nil
}

// storing says how many bytes the runs store at a time, as far as it is known.
func storing(n campaign.Needs) string {
	if n.OneReplica {
		return "at least " + unit.Bytes(n.DiskBytes) + ", without replicas of existing topics,"
	}
	return "up to " + unit.Bytes(n.DiskBytes)
}

// rateValue is read like the rates of a scenario.
type rateValue struct {
	rate  unit.Rate
	given bool
}

// String implements pflag.Value.
func (v *rateValue) String() string {
	if !v.given {
		return ""
	}
	return v.rate.String()
}

func (v *rateValue) Set(text string) error {
	rate, err := unit.ParseRate(text)
	if err == nil && (rate.IsMax() || rate.Records <= 0) {
		err = fmt.Errorf("%q: give a rate above 0, as in 20k/s", text)
	}
	*v = rateValue{rate, true}
	return err
}

func (v *rateValue) Type() string { return "rate" }

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
