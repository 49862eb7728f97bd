package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

type platform struct{ os, arch string }

var platforms = []platform{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}}

// pages are the tracked files of an archive: README, what it links to, and what those pages show.
var pages = []string{
	"README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "LICENSE", "NOTICE", "docs", "schema",
	"deploy/compose", "deploy/grafana", "deploy/prometheus",
}

// contents has the bytes of files by their names.
type contents map[string][]byte

// common returns the files that are the same for each platform.
func (r release) common(ctx context.Context) (contents, error) {
	files := make(contents)
	tracked, err := output(ctx, nil, "git", append([]string{"ls-files", "-z", "--"}, pages...)...)
	if err != nil {
		return nil, err
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(tracked), "\x00"), "\x00") {
		if files[name], err = os.ReadFile(name); err != nil {
			return nil, err
		}
	}
	if files[licensesFile], err = licenses(ctx); err != nil {
		return nil, err
	}
	return files, r.manual(ctx, files)
}

// manual adds the manual pages and the completions, which a binary for this machine writes.
func (r release) manual(ctx context.Context, files contents) error {
	here := filepath.Join(r.scratch, "here", program)
	if err := r.build(ctx, here, []string{"-tags=manual"}, nil); err != nil {
		return err
	}
	folder := filepath.Join(r.scratch, "man")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	if _, err := output(ctx, nil, here, "manual", folder); err != nil {
		return err
	}
	written, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	for _, page := range written {
		if files["man/"+page.Name()], err = os.ReadFile(filepath.Join(folder, page.Name())); err != nil {
			return err
		}
	}
	for shell, name := range map[string]string{"bash": program + ".bash", "zsh": "_" + program, "fish": program + ".fish"} {
		if files["completions/"+name], err = output(ctx, nil, here, "completion", shell); err != nil {
			return err
		}
	}
	return nil
}

func (r release) compile(ctx context.Context, p platform) (binary string, err error) {
	binary = filepath.Join(r.scratch, p.os+"_"+p.arch, program)
	return binary, r.build(ctx, binary, nil, []string{"GOOS=" + p.os, "GOARCH=" + p.arch, "GOAMD64=v1", "GOARM64=v8.0"})
}

// The settings that change the bytes are fixed.
func (r release) build(ctx context.Context, binary string, flags, env []string) error {
	args := append([]string{
		"build", "-trimpath", "-buildvcs=false", "-o", binary,
		"-ldflags=-s -w -buildid= -X main.version=" + r.version + " -X main.commit=" + r.commit,
	}, flags...)
	_, err := output(ctx, append(env, "CGO_ENABLED=0"), "go", append(args, "./cmd/"+program)...)
	return err
}

// output returns what a command prints, and what it says of its failure as an error.
func output(ctx context.Context, env []string, name string, args ...string) ([]byte, error) {
	var stderr strings.Builder
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env, cmd.Stderr = append(os.Environ(), env...), &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, stderr.String())
	}
	return out, nil
}
