package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"kafkabench.example/kafka-bench/internal/show/layout"
)

func driversCommand() *cobra.Command {
	var format string
	c := &cobra.Command{
		Use:   "drivers",
		Short: "List the clients that can be put under test, and what each lacks",
		Long: `List the clients that can be put under test, with the version that is built in and
what each lacks. A scenario names its client with driver:, a matrix varies it
with matrix: {driver: [franz, sarama]}, and --driver sets it. A scenario that asks for
something that its client does not have is refused before anything is started.`,
		Example: `  kafka-bench drivers
  kafka-bench drivers --format json
  kafka-bench run baseline --driver sarama`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			switch format {
			case "text":
				return listDrivers(c.OutOrStdout(), describeDrivers())
			case "json":
				e := json.NewEncoder(c.OutOrStdout())
				e.SetIndent("", "  ")
				return e.Encode(describeDrivers())
			}
			return fmt.Errorf("--format %s: choose text or json", format)
		},
	}
	c.Flags().StringVar(&format, "format", "text", "text or json")
	return c
}

type aDriver struct {
	Name    string            `json:"name"`
	Version string            `json:"version,omitempty"`
	BuiltIn bool              `json:"built_in"`
	Missing string            `json:"missing,omitempty"`
	Lacks   map[string]string `json:"lacks"` // capability → reason
}

func describeDrivers() (all []aDriver) {
	for _, known := range knownDrivers() {
		d := aDriver{Name: known.Name, BuiltIn: known.Open != nil, Missing: known.Missing, Lacks: map[string]string{}}
		if d.BuiltIn {
			opened := known.Open()
			d.Version = opened.Version()
			for capability, why := range opened.Lacks() {
				d.Lacks[string(capability)] = why
			}
		}
		all = append(all, d)
	}
	return all
}

func listDrivers(w io.Writer, all []aDriver) error {
	table := layout.Table{Gap: 2, Left: map[int]bool{1: true, 2: true, 3: true},
		Rows: [][]string{{"driver", "version", "built in", "lacks"}}}
	for _, d := range all {
		built := "yes"
		if !d.BuiltIn {
			built = "no"
		}
		lacks := slices.Sorted(maps.Keys(d.Lacks))
		first := none
		if len(lacks) > 0 {
			first = lacks[0] + ": " + d.Lacks[lacks[0]]
		}
		version := d.Version
		if version == "" {
			version = none
		}
		table.Add(d.Name, version, built, first)
		for _, capability := range lacks[min(1, len(lacks)):] {
			table.Add("", "", "", capability+": "+d.Lacks[capability])
		}
	}
	if err := printTable(w, &table); err != nil {
		return err
	}
	for _, d := range all {
		if d.Missing != "" {
			fmt.Fprintln(w)
			printWrapped(w, "%s: %s", d.Name, d.Missing)
		}
	}
	return nil
}

func driverNames() (names []string) {
	for _, known := range knownDrivers() {
		names = append(names, known.Name)
	}
	return names
}

// notBuilt returns why this binary lacks a known driver; "" for any other name.
func notBuilt(name string) string {
	for _, known := range knownDrivers() {
		if known.Name == name {
			return known.Missing
		}
	}
	return ""
}

func driverVersion(name string) string {
	d, err := driverNamed(name)
	if err != nil {
		return "unknown"
	}
	return d.Version()
}
