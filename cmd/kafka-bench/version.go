package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"kafkabench.example/kafka-bench/internal/result"
)

// The build sets these.
var (
	version = "development"
	commit  = ""
)

func tool() result.Tool {
	t := result.Tool{Version: version, Revision: commit, GoVersion: runtime.Version()}
	if info, ok := debug.ReadBuildInfo(); ok && commit == "" {
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
		Short:   "Print the version, the commit, Go and the platform",
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
	line := fmt.Sprintf("kafka-bench %s %s %s/%s", t.Version, t.GoVersion, runtime.GOOS, runtime.GOARCH)
	if t.Revision != "" {
		line += " commit " + t.Revision
	}
	return line + "\n"
}
