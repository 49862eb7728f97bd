// Command rename gives the module or a package another import path, in Go files, go.mod, Markdown,
// YAML and Makefiles. It moves no files.
//
//	go run ./internal/project/rename example.com/kafka-bench
//	go run ./internal/project/rename OLD/internal/unit=OLD/internal/plan/unit
//
// It refuses a changed work tree, so that `git diff` shows only its own changes, and
// `git checkout .` undoes them.
//
// Files to know: rewrite.go.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func main() {
	err := run(".", os.Args[1:], os.Stdout)
	if err == nil {
		return
	}
	fmt.Fprintln(os.Stderr, "error:", err)
	if errors.Is(err, errInput) {
		os.Exit(2)
	}
	os.Exit(1)
}

// Wrong arguments: nothing was written.
var errInput = errors.New("rename")

func run(dir string, args []string, stdout io.Writer) error {
	if len(args) == 0 || args[0] == "" {
		return fmt.Errorf("%w: give the new module path: make rename-module MODULE=example.com/kafka-bench", errInput)
	}
	module, err := output(dir, "go", "list", "-m")
	if err != nil {
		return err
	}
	var moves []move
	for _, arg := range args {
		from, to, pair := strings.Cut(arg, "=")
		if !pair {
			from, to = module, arg
		}
		if strings.ContainsAny(to, " \t\"'`\\") || strings.Trim(to, "/") != to || to == "" {
			return fmt.Errorf("%w: %q is not a module path", errInput, to)
		}
		moves = append(moves, move{from, to})
	}
	if changed, err := output(dir, "git", "status", "--porcelain"); err != nil {
		return err
	} else if changed != "" {
		return fmt.Errorf("%w: the work tree has changes; commit or stash them first:\n%s", errInput, changed)
	}
	files, err := output(dir, "git", "ls-files")
	if err != nil {
		return err
	}
	edited, err := rewriteFiles(dir, strings.Split(files, "\n"), module, moves)
	if err != nil {
		return err
	}
	if to := renamed(module, moves); to != module {
		if _, err := output(dir, "go", "mod", "edit", "-module", to); err != nil {
			return err
		}
		edited++
	}
	fmt.Fprintln(stdout, edited, "files changed; run make quick")
	return nil
}

// rewriteFiles writes every file that the moves change. It reads and parses all files before it
// writes the first.
func rewriteFiles(dir string, files []string, module string, moves []move) (edited int, err error) {
	changed := make(map[string][]byte)
	for _, name := range files {
		path := filepath.Join(dir, name)
		rewrite := rewriterOf(name)
		if info, err := os.Lstat(path); rewrite == nil || err != nil || !info.Mode().IsRegular() {
			continue
		}
		src, err := os.ReadFile(path)
		if err != nil {
			return 0, err
		}
		out, err := rewrite(src, module, moves)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", name, err)
		}
		if !bytes.Equal(src, out) {
			changed[path] = out
		}
	}
	for path, out := range changed {
		if err := os.WriteFile(path, out, 0o644); err != nil {
			return 0, err
		}
	}
	return len(changed), nil
}

// rewriterOf returns the function that rewrites a file; nil if there is none.
func rewriterOf(name string) func(src []byte, module string, moves []move) ([]byte, error) {
	switch base := filepath.Base(name); {
	case filepath.Ext(base) == ".go":
		return goFile
	case filepath.Ext(base) == ".md", filepath.Ext(base) == ".yaml", filepath.Ext(base) == ".yml", base == "Makefile":
		return func(src []byte, module string, moves []move) ([]byte, error) { return text(src, module, moves), nil }
	default:
		return nil
	}
}

func output(dir, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return "", fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, bytes.TrimSpace(exit.Stderr))
	} else if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	return strings.TrimRight(string(out), "\n"), nil
}
