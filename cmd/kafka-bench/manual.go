//go:build manual

package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// manualCommands has a command that writes the manual pages of all commands. Only the release builds it.
func manualCommands() []*cobra.Command {
	return []*cobra.Command{{
		Use: "manual FOLDER", Hidden: true, Args: cobra.ExactArgs(1),
		Short: "Write the manual pages",
		RunE: func(c *cobra.Command, args []string) error {
			root := c.Root()
			root.DisableAutoGenTag = true
			// Pages have the date SOURCE_DATE_EPOCH.
			return doc.GenManTree(root, &doc.GenManHeader{Section: "1", Source: "Kafka Bench", Manual: "Kafka Bench"}, args[0])
		},
	}}
}
