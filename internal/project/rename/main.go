// Command rename gives the module another path, in all tracked text files: rename example.com/kafka-bench.
// It refuses a changed work tree, so that `git checkout .` undoes its changes.
package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

func main() {
	if len(os.Args) != 2 || !regexp.MustCompile(`^[\w.~-]+(/[\w.~-]+)*$`).MatchString(os.Args[1]) {
		fmt.Fprintln(os.Stderr, "error: give the new module path: make rename-module MODULE=example.com/kafka-bench")
		os.Exit(2)
	}
	if err := run(".", os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(dir, module string) error {
	output := func(name string, args ...string) (string, error) {
		cmd := exec.Command(name, args...)
		cmd.Dir, cmd.Stderr = dir, os.Stderr
		out, err := cmd.Output()
		return strings.TrimSpace(string(out)), err
	}
	old, err := output("go", "list", "-m")
	if err != nil {
		return err
	}
	if changed, err := output("git", "status", "--porcelain"); err != nil {
		return err
	} else if changed != "" {
		return fmt.Errorf("the work tree has changes; commit them first:\n%s", changed)
	}
	files, err := output("git", "grep", "-lIzF", old)
	if err != nil {
		return err
	}
	for name := range strings.SplitSeq(strings.Trim(files, "\x00"), "\x00") {
		path := filepath.Join(dir, name)
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		text = bytes.ReplaceAll(text, []byte(old), []byte(module))
		if err := os.WriteFile(path, text, 0o644); err != nil { // which keeps the mode of the file
			return err
		}
	}
	_, err = output("sh", "-c", "git diff --name-only -z -- '*.go' | xargs -0 gofmt -w") // the order of imports
	return err
}
