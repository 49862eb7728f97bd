package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/kafka/runname"
	"kafkabench.example/kafka-bench/internal/show/layout"
)

type cleanFlags struct {
	in        surroundings
	brokers   []string
	clusterID string
	access    string
	topics    []string
	groups    []string
	yes       bool
}

func cleanCommand(in surroundings) *cobra.Command {
	flags := cleanFlags{in: in}
	c := &cobra.Command{
		Use:   "clean",
		Short: "List, and remove with --yes, what killed runs left on a cluster",
		Long: `List the topics and groups of earlier runs on an existing cluster, and remove them with
--yes. A run deletes its own; a killed one cannot. Their names begin with
` + runname.Prefix + ` and have the run's start and its planned end, in UTC.

Without their names, only those are removed whose planned end is more than an hour
past, and whose groups have no members. Others are listed with the reason. To remove
one of them, give its exact name with --topic or --group. A topic or group that a
group with members uses is never removed.

Exit codes: 0 all was listed or removed, 2 bad input, 3 cluster out of reach, or it
refused; 130 interrupted.`,
		Example: `  kafka-bench clean --brokers kafka-1:9092 --cluster-id 5L6g3nShT-eMCtK--X86sw
  kafka-bench clean --brokers kafka-1:9092 --cluster-id 5L6g3nShT-eMCtK--X86sw --yes
  kafka-bench clean --brokers kafka-1:9092 --topic kafka-bench-control-monday --yes`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return clean(c.Context(), flags, c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	f := c.Flags()
	addList(f, &flags.brokers, "brokers", nil, "addresses of the cluster, host:port (required)")
	f.StringVar(&flags.clusterID, "cluster-id", "", "the ID of the cluster; required unless it is on this machine")
	f.StringVar(&flags.access, "command-config", "",
		"a client properties file with the access to the cluster (TLS, SASL)")
	f.StringArrayVar(&flags.topics, "topic", nil, "only the topic of this exact `NAME`, whatever its age; repeatable")
	f.StringArrayVar(&flags.groups, "group", nil, "only the group of this exact `NAME`, whatever its age; repeatable")
	f.BoolVar(&flags.yes, "yes", false, "remove them")
	return c
}

func (f cleanFlags) check() error {
	var faults []error
	if len(f.brokers) == 0 {
		faults = append(faults, errors.New("clean needs --brokers, the addresses of the cluster"))
	}
	for _, name := range slices.Concat(f.topics, f.groups) {
		if !strings.HasPrefix(name, runname.Prefix) {
			faults = append(faults, fmt.Errorf("%q is not a name that a run makes: they begin with %s; "+
				"delete others with Kafka's own tools", name, runname.Prefix))
		}
	}
	return errors.Join(faults...)
}

func clean(ctx context.Context, flags cleanFlags, stdout, stderr io.Writer) error {
	a, err := engineFlags{access: flags.access}.readAccess(progressTo(stderr))
	if err := errors.Join(flags.check(), err); err != nil {
		return err
	}
	ctx, cancel := flags.in.untilInterrupt(ctx)
	defer cancel()
	c, err := cluster.Connect(ctx, flags.brokers, flags.clusterID, flags.in.through(a))
	if err != nil {
		return err
	}
	for _, text := range c.Silent() {
		progressTo(stderr)(text)
	}
	admin, err := cluster.NewAdmin(c.Bootstrap(), c.Access())
	if err != nil {
		return err
	}
	defer admin.Close()
	all, err := admin.Leftovers(ctx, time.Now())
	if err != nil {
		return err
	}
	chosen, err := flags.choose(all)
	if err != nil {
		return err
	}
	if !flags.yes {
		return listLeftovers(stdout, all, chosen, c.Info().ID)
	}
	return removeLeftovers(ctx, stdout, admin, all, chosen)
}

// choose returns those that --yes removes.
func (f cleanFlags) choose(all []runname.Leftover) (chosen []runname.Leftover, err error) {
	if len(f.topics)+len(f.groups) == 0 {
		return slices.DeleteFunc(slices.Clone(all), func(l runname.Leftover) bool { return !l.Removable() }), nil
	}
	var faults []error
	for kind, names := range map[runname.Kind][]string{runname.Topics: f.topics, runname.Groups: f.groups} {
		for _, name := range names {
			i := slices.IndexFunc(all, func(l runname.Leftover) bool { return l.Kind == kind && l.Name == name })
			switch {
			case i < 0:
				faults = append(faults, fmt.Errorf("there is no %s %q, or this user may not DESCRIBE it; "+
					"leave --%[1]s out to see those that are there", kind, name))
			case len(all[i].UsedBy) > 0:
				faults = append(faults, fmt.Errorf("the %s %q is in use: %s; stop them first", kind, name, users(all[i])))
			}
		}
	}
	for _, l := range all {
		if l.Kind == runname.Topics && slices.Contains(f.topics, l.Name) ||
			l.Kind == runname.Groups && slices.Contains(f.groups, l.Name) {
			chosen = append(chosen, l)
		}
	}
	slices.SortFunc(faults, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return chosen, errors.Join(faults...)
}

func listLeftovers(w io.Writer, all, chosen []runname.Leftover, clusterID string) error {
	if len(all) == 0 {
		_, err := fmt.Fprintf(w, "The cluster %s has no topic or group of a run that this user may DESCRIBE.\n", clusterID)
		return err
	}
	if err := printLeftovers(w, all); err != nil {
		return err
	}
	if len(chosen) == 0 {
		_, err := fmt.Fprintln(w, "\nNothing is to be removed.")
		return err
	}
	_, err := fmt.Fprintf(w, "\nNothing was removed. With --yes, the same command removes %s.\n", counted(chosen))
	return err
}

func removeLeftovers(ctx context.Context, w io.Writer, admin *cluster.Admin, all, chosen []runname.Leftover) error {
	var gone []runname.Leftover
	err := admin.RemoveLeftovers(ctx, chosen, func(l runname.Leftover) {
		gone = append(gone, l)
		fmt.Fprintf(w, "removed  %s  %s\n", l.Kind, l.Name)
	})
	left := slices.DeleteFunc(slices.Clone(all), func(l runname.Leftover) bool {
		return slices.ContainsFunc(gone, func(g runname.Leftover) bool { return g.Kind == l.Kind && g.Name == l.Name })
	})
	if len(gone) == 0 && err == nil {
		fmt.Fprintln(w, "There was nothing to remove.")
	}
	if len(left) > 0 {
		fmt.Fprintln(w, "\nLeft:")
		err = errors.Join(err, printLeftovers(w, left))
	}
	return err
}

func printLeftovers(w io.Writer, all []runname.Leftover) error {
	table := layout.Table{Gap: 2, Left: map[int]bool{1: true, 2: true}}
	for _, l := range all {
		table.Add(string(l.Kind), l.Name, describeLeftover(l))
	}
	return printTable(w, &table)
}

func describeLeftover(l runname.Leftover) string {
	const form = "2006-01-02 15:04:05 UTC"
	if len(l.UsedBy) > 0 {
		return "in use: " + users(l)
	}
	switch l.Age {
	case runname.Past:
		return "left behind: its run was to end by " + l.End.Format(form)
	case runname.Kept:
		return "kept by --keep-topics" + byName(l)
	case runname.Running:
		return "its run may last until " + l.End.Format(form) + byName(l)
	case runname.Unknown:
	}
	return "age unknown" + byName(l)
}

func byName(l runname.Leftover) string { return fmt.Sprintf("; remove it with --%s NAME", l.Kind) }

func users(l runname.Leftover) string {
	if len(l.UsedBy) == 1 {
		return fmt.Sprintf("the group %s has members", l.UsedBy[0])
	}
	return fmt.Sprintf("the groups %s have members", strings.Join(l.UsedBy, ", "))
}

func counted(all []runname.Leftover) string {
	topics := 0
	for _, l := range all {
		if l.Kind == runname.Topics {
			topics++
		}
	}
	switch groups := len(all) - topics; {
	case groups == 0:
		return count(topics, "topic")
	case topics == 0:
		return count(groups, "group")
	default:
		return count(topics, "topic") + " and " + count(groups, "group")
	}
}
