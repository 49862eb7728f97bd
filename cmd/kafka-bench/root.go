package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// run is the whole program. exitCode maps its error to an exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	return surroundings{}.run(ctx, args, stdout, stderr)
}

func (s surroundings) run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	root := rootCommand(s)
	root.SetArgs(args)
	root.SetIn(s.stdin) // nil is os.Stdin
	root.SetOut(stdout)
	root.SetErr(stderr)
	if len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) {
		addCompletion(root) // only then: cobra keeps each flag that it completes for the life of the process
	}
	c, _, findErr := root.Find(args)
	if findErr == nil {
		removeStale(c, args)
	}
	err := answered(root, args, root.ExecuteContext(ctx))
	if err != nil && findErr == nil {
		writeRefused(c, args, err)
	}
	return err
}

// answered returns the error of a command, which says what words of other tools and foreign files are here.
func answered(root *cobra.Command, args []string, err error) error {
	var unknown unknownWords
	if errors.As(err, &unknown) {
		if unknown.in == nil {
			unknown.in, _, _ = root.Find(args) // it ran
		}
		return inOurWords(root, unknown, args)
	}
	if c, _, findErr := root.Find(args); err != nil && findErr == nil {
		return foreignFiles(c, err)
	}
	return err
}

func rootCommand(in surroundings) *cobra.Command {
	root := &cobra.Command{
		Use:   "kafka-bench",
		Short: "Measure what the users of an Apache Kafka feel",
		Long: `kafka-bench measures end-to-end latency, consumer lag, delivery and recovery of
an Apache Kafka, under a load that is offered on schedule whatever happens, and
reports whether the numbers can be trusted.`,
		Example: `  kafka-bench list
  kafka-bench run quick`,
		SilenceUsage:  true,
		SilenceErrors: true,
		Version:       versionLine(),
		Args:          cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownWords{in: c}
			}
			return c.Help()
		},
	}
	root.SetHelpFunc(printHelp)
	root.SetVersionTemplate("{{.Version}}")
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return unknownWords{in: c, cause: err}
	})
	root.AddCommand(
		runCommand(in), listCommand(), showCommand(), reportCommand(), chartCommand(), compareCommand(), historyCommand(),
		serveCommand(in), searchCommand(in), calibrateCommand(in), clusterCommand(), importCommand(), peersCommand(in),
		kmqCommand(in),
		cleanCommand(in), doctorCommand(in), driversCommand(), versionCommand(),
		agentCommand(in), collectCommand(in), workerCommand(), pagesCommand(),
	)
	root.AddCommand(manualCommands()...)
	return root
}

func needs(least, most int, what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return fmt.Errorf("%s needs %s", c.Name(), what)
		case len(args) > most:
			return fmt.Errorf("%s needs %s, and got %d arguments", c.Name(), what, len(args))
		}
		return nil
	}
}
