package main

import (
	"errors"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/plan/scenario"
)

type scenarioFlags struct {
	merge []string
	set   []string
	quick bool
	env   []string
	stdin *onceReader
}

// Standard input can be read only once.
type onceReader struct {
	from  func() io.Reader
	ended bool
}

func (r *onceReader) Read(p []byte) (int, error) {
	if r.ended {
		return 0, errors.New("it was read already; give - once")
	}
	n, err := r.from().Read(p)
	r.ended = err != nil
	return n, err
}

func addScenario(c *cobra.Command, flags *scenarioFlags) {
	flags.stdin = &onceReader{from: c.InOrStdin}
	c.Flags().StringArrayVar(&flags.merge, "merge", nil,
		"a preset or a file to lay over the scenario (may be repeated; the later wins)")
	c.Flags().StringArrayVar(&flags.set, "set", nil,
		"override a field, as in load.rate=20k/s, over everything else (may be repeated)")
	c.Flags().StringArrayVar(&flags.env, "env", nil,
		"a `VARIABLE` of the environment that texts of the scenario may take (may be repeated); numbers, sizes, durations and choices take any")
	c.Flags().BoolVar(&flags.quick, "quick", false,
		"the scenario's quick form, under two minutes (kafka-bench list says which have one); without one, as it is")
}

// If driver is "", the scenario's driver stays.
func (f scenarioFlags) options(driver string) scenario.Options {
	return scenario.Options{
		Merge: f.merge, Set: f.set, Quick: f.quick, Driver: driver, Drivers: driverNames(), Stdin: f.stdin,
		EnvTexts: f.env,
	}
}

// If the runs may start a Kafka here, suite checks the folders of cluster.disks.
func (f scenarioFlags) suite(arg string, e engineFlags) (scenario.Suite, error) {
	o := f.options(e.driver)
	if len(e.brokers) == 0 && e.cluster != cluster.KindEmbedded {
		o.DiskFault = cluster.DiskFault
	}
	suite, err := scenario.ReadSuite(arg, o)
	if err != nil && len(optionsOfFile(arg)) > 0 {
		return suite, unknownWords{cause: err}
	}
	return suite, err
}

// quickNotes says that a suite has no quick form, if one is asked for.
func (f scenarioFlags) quickNotes(s scenario.Suite) []string {
	if !f.quick || s.HasQuick {
		return nil
	}
	return []string{s.Name + " has no quick form, and is run as it is"}
}

// optionalInt is a whole number that may be absent.
type optionalInt struct {
	n     int
	given bool
}

// String implements pflag.Value.
func (o *optionalInt) String() string {
	if !o.given {
		return ""
	}
	return strconv.Itoa(o.n)
}

func (o *optionalInt) Set(text string) (err error) {
	o.given = true
	o.n, err = strconv.Atoi(text)
	return err
}

func (o *optionalInt) Type() string { return "int" }
