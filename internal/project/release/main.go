// Command release writes the archives, packages, SBOMs and checksums of a release.
//
//	release -o build/release -version 0.1.0 -commit 3f1c9e2a1b2c
//
// Packages are for Debian and RPM, and each binary has an SBOM. The checksums are those of all files in
// the folder, where the image lies, too. Every time is SOURCE_DATE_EPOCH (seconds since 1970). Two releases of one commit with one Go
// have the same bytes. nfpm, which makes the packages, runs by `go run`. goreleaser would take the
// version from git tags, and four times as many modules.
//
// Files to know: build.go (binaries, manual, completions), licenses.go, archive.go, sbom.go,
// package.go, nfpm.yaml.
package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const program = "kafka-bench"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// release is what is written: into the folder out, for files named after the version.
type release struct {
	version, commit string
	at              time.Time // of every file
	out             string
	scratch         string // a folder that is removed
	changelog       string
}

func run(ctx context.Context, args []string, stdout io.Writer) error {
	var r release
	flags := flag.NewFlagSet("release", flag.ContinueOnError)
	flags.StringVar(&r.out, "o", "build/release", "the `FOLDER` to write")
	flags.StringVar(&r.version, "version", "", "the `VERSION`, as in 0.1.0")
	flags.StringVar(&r.commit, "commit", "", "the `COMMIT` that the binaries print")
	flags.StringVar(&r.changelog, "changelog", "CHANGELOG.md", "the `FILE` with a section of each released version")
	if err := flags.Parse(args); err != nil {
		return err
	}
	seconds, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64)
	if err != nil || r.version == "" {
		return errors.New("give -version, and SOURCE_DATE_EPOCH as git log -1 --format=%ct prints it: use make release")
	}
	r.at = time.Unix(seconds, 0).UTC()
	if err := r.described(); err != nil {
		return err
	}
	if r.scratch, err = os.MkdirTemp("", "kafka-bench-release-"); err != nil {
		return err
	}
	defer os.RemoveAll(r.scratch)
	if err := r.write(ctx); err != nil {
		return err
	}
	sums, err := r.checksums()
	if err != nil {
		return err
	}
	_, err = stdout.Write(sums)
	return err
}

// described refuses a release without a section of the change log. Builds between releases need none.
func (r release) described() error {
	text, err := os.ReadFile(r.changelog)
	if err != nil || strings.Contains(r.version, "-") {
		return err
	}
	for line := range strings.Lines(string(text)) {
		if words := strings.Fields(line); len(words) > 1 && words[0] == "##" && strings.Trim(words[1], "[]") == r.version {
			return nil
		}
	}
	return fmt.Errorf("%s has no section %q: write it before the release", r.changelog, "## "+r.version)
}

func (r release) write(ctx context.Context) error {
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return err
	}
	common, err := r.common(ctx)
	if err != nil {
		return err
	}
	for _, p := range platforms {
		binary, err := r.compile(ctx, p)
		if err != nil {
			return err
		}
		name := strings.Join([]string{program, r.version, p.os, p.arch}, "_")
		sbom, err := r.sbom(name, binary)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(r.out, name+".cdx.json"), sbom, 0o644); err != nil {
			return err
		}
		if common[program], err = os.ReadFile(binary); err != nil {
			return err
		}
		archive, err := archive(name, common, r.at)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(r.out, name+".tar.gz"), archive, 0o644); err != nil {
			return err
		}
		if p.os == "linux" {
			if err := r.packages(ctx, p.arch, common); err != nil {
				return err
			}
		}
	}
	return nil
}

// checksums writes the checksums of all other files in the folder, in the form that sha256sum -c reads.
func (r release) checksums() ([]byte, error) {
	name := program + "_" + r.version + "_checksums.txt"
	entries, err := os.ReadDir(r.out)
	if err != nil {
		return nil, err
	}
	var sums bytes.Buffer
	for _, e := range entries {
		if e.Name() == name {
			continue
		}
		content, err := os.ReadFile(filepath.Join(r.out, e.Name()))
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(content), e.Name())
	}
	return sums.Bytes(), os.WriteFile(filepath.Join(r.out, name), sums.Bytes(), 0o644)
}
