package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"kafkabench.example/kafka-bench/internal/show/web"
)

type serveFlags struct {
	in     surroundings
	listen string
	export string
	title  string
}

func serveCommand(in surroundings) *cobra.Command {
	flags := serveFlags{in: in}
	c := &cobra.Command{
		Use:   "serve [DIR]",
		Short: "Show recorded runs and campaigns in a browser, or write their pages as files",
		Long: `Show the runs and campaigns in a folder in a browser, until interrupted: a list that can
be filtered, the page of each run and campaign, comparisons of any two sets of runs,
and each configuration over time. DIR is runs by default. New runs appear when a
page is loaded again.

Only this machine can see the pages, and they change nothing. With any other address
the pages need a token, which is in the printed address.

--export writes the same pages to an empty folder, each a file that needs nothing
else: open index.html there, or publish the folder with any web server. They name no
folder of this machine. --title is the title of the list.`,
		Example: `  kafka-bench serve
  kafka-bench serve results --listen 127.0.0.1:0
  kafka-bench serve results --export site --title 'Runs of the payment team'`,
		Args: needs(0, 1, "at most one DIR: the folder that the runs are in"),
		RunE: func(c *cobra.Command, args []string) error {
			dir := "runs"
			if len(args) > 0 {
				dir = args[0]
			}
			if flags.export != "" && c.Flags().Changed("listen") {
				return errors.New("--export serves nothing; leave --listen out")
			}
			return serveRuns(c.Context(), dir, flags, c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	f := c.Flags()
	f.StringVar(&flags.listen, "listen", "127.0.0.1:8780", "the address of the pages (port 0: any that is free)")
	f.StringVar(&flags.export, "export", "",
		"write the pages to this folder, which must be empty or missing, and serve nothing")
	f.StringVar(&flags.title, "title", "",
		"the title of the list (default: with --export \""+web.ExportTitle+"\", else the folder's path)")
	return c
}

func serveRuns(ctx context.Context, dir string, flags serveFlags, stdout, stderr io.Writer) error {
	address, err := web.ParseAddress(flags.listen)
	if err != nil {
		err = fmt.Errorf("--listen: %w", err)
	}
	library, openErr := web.OpenLibrary(dir)
	if err := errors.Join(err, openErr); err != nil {
		return err
	}
	defer library.Close()
	ctx, stop := flags.in.untilInterrupt(ctx)
	defer stop()
	library.SetTitle(flags.title)
	if flags.export != "" {
		return exportRuns(ctx, library, flags.export, stdout)
	}
	door, err := web.Open(ctx, address)
	if err != nil {
		return fmt.Errorf("--listen: %w", err)
	}
	tellPage(door.URL(), door.Warning(), stdout, stderr)
	fmt.Fprintln(stdout, "interrupt to end")
	return door.Serve(ctx, library.Handler())
}

func tellPage(url, warning string, stdout, stderr io.Writer) {
	if warning != "" {
		progressTo(stderr)("warning: " + warning)
	}
	fmt.Fprintf(stdout, "page: %s\n", url)
}

func exportRuns(ctx context.Context, library *web.Library, out string, stdout io.Writer) error {
	n, err := library.Export(ctx, out)
	if errors.Is(err, context.Canceled) {
		return errInterrupted
	}
	if err != nil {
		return fmt.Errorf("--export: %w", err)
	}
	_, err = fmt.Fprintf(stdout, "%s in %s; begin with index.html\n", count(n, "page"), out)
	return err
}
