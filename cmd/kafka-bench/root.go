package main

import (
	"context"
	"io"

	"github.com/spf13/cobra"
)

// run is the whole program: arguments in, output out, an error that says which
// exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	root := &cobra.Command{
		Use:   "kafka-bench",
		Short: "Measure what the users of an Apache Kafka feel",
		Long: `kafka-bench measures end-to-end latency, consumer lag, delivery and recovery of
an Apache Kafka, under a load that is offered on schedule whatever happens, and
says whether the numbers can be believed.`,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(
		runCommand(), listCommand(), showCommand(), reportCommand(),
		clusterCommand(), versionCommand(),
	)
	return root.ExecuteContext(ctx)
}
