// Command design writes the file map of docs/DESIGN.md from the package comments.
//
//	go run ./internal/project/design
//
// A package's row has the first sentence of its comment, and the files of its last paragraph
// if that begins with "Files to know:".
//
// Files to know: map.go (comments become tables), paths.go (what a page may name).
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

const page = "docs/DESIGN.md"

func main() {
	if err := run("."); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(root string) error {
	path := filepath.Join(root, page)
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	packages, err := read(root)
	if err != nil {
		return err
	}
	tables, err := fileMap(packages)
	if err != nil {
		return err
	}
	written, err := replace(string(text), tables)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return os.WriteFile(path, []byte(written), 0o644)
}
