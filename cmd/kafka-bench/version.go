package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"kafkabench.example/kafka-bench/internal/result"
)

// version is set by the build.
var version = "development"

func tool() result.Tool {
	t := result.Tool{Version: version, GoVersion: runtime.Version()}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				t.Revision = s.Value
			}
		}
	}
	return t
}

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: "  kafka-bench version",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			_, err := fmt.Fprint(c.OutOrStdout(), versionLine())
			return err
		},
	}
}

func versionLine() string {
	t := tool()
	return fmt.Sprintf("kafka-bench %s %s %s/%s\n", t.Version, t.GoVersion, runtime.GOOS, runtime.GOARCH)
}
