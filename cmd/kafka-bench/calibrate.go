package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/run/calibrate"
	"kafkabench.example/kafka-bench/internal/show/layout"
)

func calibrateCommand(in surroundings) *cobra.Command {
	var quick bool
	var driver, disk string
	c := &cobra.Command{
		Use:   "calibrate",
		Short: "Find out what this machine can offer, and keep it for later runs",
		Long: `Find out what load this machine can offer before the tool itself becomes the limit:
the highest rate that is sent on schedule, for small and large records, against the
embedded broker, with the pacers' lateness; and the cost of timers, clock and a record.

The result is kept in the user's cache folder. A run on this machine that offers more
gets a warning.

It takes about a minute, and --quick a quarter of that. Leave the machine alone
meanwhile.

With --disk it measures a disk, and nothing else: sequential writes with and without
fsync. Later runs report which part of that rate they write while they measure.`,
		Example: `  kafka-bench calibrate
  kafka-bench calibrate --quick
  kafka-bench calibrate --disk
  kafka-bench calibrate --disk=/mnt/logs`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 0 && c.Flags().Changed("disk") {
				return fmt.Errorf("--disk takes its folder after an equals sign; write --disk=%s", args[0])
			}
			return cobra.NoArgs(c, args)
		},
		RunE: func(c *cobra.Command, _ []string) error {
			if c.Flags().Changed("disk") {
				switch {
				case disk == "":
					return errors.New("--disk: it is empty; name a folder, or write --disk alone for that of local clusters")
				case c.Flags().Changed("driver"):
					return errors.New("--driver: a disk is measured without a client; leave it out")
				}
				plan := calibrate.FullDisk()
				if quick {
					plan = calibrate.QuickDisk()
				}
				return in.calibrateDisk(c.Context(), disk, plan, c.OutOrStdout(), c.ErrOrStderr())
			}
			plan := calibrate.Full()
			if quick {
				plan = calibrate.Quick()
			}
			return in.calibrateMachine(c.Context(), plan, driver, c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	c.Flags().BoolVar(&quick, "quick", false, "a quarter of the time, and less certain")
	c.Flags().StringVar(&driver, "driver", "franz", "the client that sends")
	c.Flags().StringVar(&disk, "disk", "",
		"measure the disk of a folder instead, as in --disk=/mnt/logs; without a folder: that of local clusters")
	c.Flags().Lookup("disk").NoOptDefVal = localDisk
	return c
}

func (s surroundings) calibrateMachine(ctx context.Context, plan calibrate.Plan, driver string, stdout,
	stderr io.Writer) error {
	client, err := driverNamed(driver)
	if err != nil {
		return err
	}
	home, err := cluster.UserHome()
	if err != nil {
		return err
	}
	ctx, cancel := s.untilInterrupt(ctx)
	defer cancel()
	c, err := calibrate.Measure(ctx,
		calibrate.Config{Plan: plan, Driver: client, Tool: tool(), Progress: progressTo(stderr)})
	if errors.Is(err, context.Canceled) {
		return errInterrupted // half a calibration is useless
	}
	if err != nil {
		return err
	}
	if former, err := calibrate.Load(home.Dist); err == nil {
		c.Disks = former.Disks
	}
	file, err := c.Save(home.Dist)
	if err != nil {
		return err
	}
	if err := printCalibration(stdout, c); err != nil {
		return err
	}
	_, err = fmt.Fprintf(stdout, "\nKept in %s\n", file)
	return err
}

const localDisk = "local"

func (s surroundings) calibrateDisk(ctx context.Context, folder string, plan calibrate.DiskPlan, stdout,
	stderr io.Writer) error {
	home, err := cluster.UserHome()
	if err != nil {
		return err
	}
	if folder == localDisk {
		folder = home.Clusters
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return fmt.Errorf("--disk: %w", err)
		}
	}
	c, err := calibrate.Load(home.Dist)
	if errors.Is(err, calibrate.ErrNone) {
		c, err = calibrate.NewDisks(), nil
	}
	if err != nil {
		return err
	}
	ctx, cancel := s.untilInterrupt(ctx)
	defer cancel()
	progressTo(stderr)("writing to the disk of " + folder)
	d, err := calibrate.MeasureDisk(ctx, folder, plan)
	if errors.Is(err, context.Canceled) {
		return errInterrupted
	}
	if err != nil {
		return fmt.Errorf("--disk: %w", err)
	}
	c.SetDisk(d)
	file, err := c.Save(home.Dist)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(stdout, "The disk %s of %s takes %s/s of sequential writes, and %s with an fsync after each 64 KiB (%s/s).\n\nKept in %s\n",
		d.Name, d.Folder, unit.Bytes(int64(d.WriteBytesPerS)), unit.PerSecond(d.FsyncsPerS),
		unit.Bytes(int64(d.FsyncBytesPerS)), file)
	return err
}

// calibrated returns nil if there is no calibration. It reports a calibration that cannot be read.
func calibrated(dir string, tell func(string)) *calibrate.Calibration {
	c, err := calibrate.Load(dir)
	if err != nil && !errors.Is(err, calibrate.ErrNone) {
		tell(err.Error())
	}
	return c
}

func (s surroundings) untilInterrupt(parent context.Context) (context.Context, context.CancelFunc) {
	ctx, interrupt, stop := s.interruptible(parent, func(string) {})
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		select {
		case <-interrupt:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		cancel()
		stop()
	}
}

func printCalibration(w io.Writer, c *calibrate.Calibration) error {
	printWrapped(w, "%s", c.Sentence())
	for _, note := range c.Notes {
		printWrapped(w, "But %s.", note)
	}
	fmt.Fprintln(w)
	// The first column is empty, so that all others are right-aligned.
	table := layout.Table{Gap: 3, Rows: [][]string{
		{"", "record", "as fast as it goes", "pacer", "on schedule", "next failed", "late p50", "late p99",
			"CPU a record"},
	}}
	for _, o := range c.Offers {
		cells := []string{"", unit.Size(o.RecordBytes).String(), unit.PerSecond(o.ClosedLoopPerS), o.Pacer,
			"none held", "", "", "", ""}
		if o.HighestPerS != nil {
			cells[4], cells[6], cells[7] = unit.PerSecond(*o.HighestPerS), unit.Nanos(o.LatenessP50Ns), unit.Nanos(o.LatenessP99Ns)
		}
		if step, known := o.Step(); known {
			cells[5] = "+" + unit.Percent(step)
		}
		if o.CPUPerRecordNs != nil {
			cells[8] = unit.Nanos(int64(*o.CPUPerRecordNs))
		}
		table.Add(cells...)
	}
	table.Add()
	table.Add("", "record", "to make its body", "to stamp it", "to record its times")
	ns := func(v float64) string { return fmt.Sprintf("%.0f ns", v) }
	for _, cost := range c.Costs {
		table.Add("", unit.Size(cost.RecordBytes).String(), ns(cost.GenerateNs), ns(cost.StampNs), ns(cost.RecordNs))
	}
	if err := printTable(w, &table); err != nil {
		return err
	}
	fmt.Fprintln(w)
	printWrapped(w, "On schedule is the highest tried rate that held; next failed is how far above it the lowest rate "+
		"that failed is, so that the machine may be able to offer up to that much more.")
	fmt.Fprintf(w, "\nA reading of the clock takes %.0f ns.\n", c.ClockNs)
	for _, s := range c.Sleeps {
		fmt.Fprintf(w, "A sleep of %s ends %s too late, and %s at p99.\n", unit.Nanos(s.AskedNs), unit.Nanos(s.P50Ns),
			unit.Nanos(s.P99Ns))
	}
	return nil
}
