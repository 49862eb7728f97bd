package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// tree is the module in the work tree, including untracked files. Paths are relative to the module
// and have slashes.
type tree struct {
	root     string
	packages map[string]bool     // folders
	files    map[string][]string // of each package, sorted
	sums     map[string][sha256.Size]byte
}

// These files affect every package.
var anywhere = []string{"go.mod", "go.sum"}

func readTree(ctx context.Context, root string) (*tree, error) {
	root, err := filepath.EvalSymlinks(root) // as go list prints it
	if err != nil {
		return nil, err
	}
	if root, err = filepath.Abs(root); err != nil {
		return nil, err
	}
	t := &tree{root: root, files: make(map[string][]string), sums: make(map[string][sha256.Size]byte)}
	// A package may have only files with a tag.
	if t.packages, err = t.list(ctx, group{tags: "librdkafka", cgo: true, packages: []string{"./..."}}); err != nil {
		return nil, err
	}
	files, err := t.lines(ctx, "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	if err != nil {
		return nil, err
	}
	slices.Sort(files)
	for _, file := range slices.Compact(files) {
		owner := t.owner(file)
		t.files[owner] = append(t.files[owner], file)
	}
	return t, nil
}

// owner returns the nearest package folder above a file. So a package owns its test data, and the
// root package owns documents and results.
func (t *tree) owner(file string) string {
	dir := path.Dir(file)
	for dir != "." && !t.packages[dir] {
		dir = path.Dir(dir)
	}
	return dir
}

// list returns the folders of this module's packages that the group's patterns match; with the
// flags -deps and -test, also those that they and their tests import.
func (t *tree) list(ctx context.Context, g group, flags ...string) (map[string]bool, error) {
	const format = "-f={{with .Module}}{{if .Main}}{{$.Dir}}{{end}}{{end}}"
	args := append([]string{"list", "-tags=" + g.buildTags(), format}, flags...)
	cmd := t.command(ctx, "go", append(args, g.packages...)...)
	cmd.Env = append(cmd.Environ(), g.environment())
	out, err := output(cmd)
	if err != nil {
		return nil, err
	}
	dirs := make(map[string]bool)
	for dir := range strings.Lines(string(out)) {
		if dir = strings.TrimSpace(dir); dir != "" {
			rel, err := filepath.Rel(t.root, dir)
			if err != nil {
				return nil, err
			}
			dirs[filepath.ToSlash(rel)] = true
		}
	}
	return dirs, nil
}

// A change of go.mod or go.sum counts for all packages.
func (t *tree) changed(ctx context.Context, ref string) (map[string]bool, error) {
	if _, err := t.lines(ctx, "git", "rev-parse", "--verify", "--quiet", "--end-of-options", ref+"^{commit}"); err != nil {
		return nil, fmt.Errorf("%w: SINCE=%s: git knows no such commit", errInput, ref)
	}
	files, err := t.lines(ctx, "git", "diff", "-z", "--name-only", "--no-renames", "--relative", ref, "--")
	if err != nil {
		return nil, err
	}
	untracked, err := t.lines(ctx, "git", "ls-files", "-z", "--others", "--exclude-standard")
	if err != nil {
		return nil, err
	}
	dirs := make(map[string]bool)
	for _, file := range append(files, untracked...) {
		if slices.Contains(anywhere, file) {
			return t.packages, nil
		}
		dirs[t.owner(file)] = true
	}
	return dirs, nil
}

// checksum covers the group's definition, the toolchain, and the files of the packages dirs.
func (t *tree) checksum(g group, dirs map[string]bool) (string, error) {
	files := slices.Clone(anywhere)
	for dir := range dirs {
		files = append(files, t.files[dir]...)
	}
	if g.command != nil {
		files = append(files, "Makefile")
	}
	slices.Sort(files)
	all := sha256.New()
	fmt.Fprintf(all, "%+v %s\n", g, runtime.Version())
	for _, file := range slices.Compact(files) {
		sum, err := t.sum(file)
		if errors.Is(err, fs.ErrNotExist) { // deleted in the work tree
			continue
		} else if err != nil {
			return "", err
		}
		fmt.Fprintf(all, "%q %x\n", file, sum)
	}
	return fmt.Sprintf("%x", all.Sum(nil)), nil
}

func (t *tree) sum(file string) ([sha256.Size]byte, error) {
	if sum, known := t.sums[file]; known {
		return sum, nil
	}
	content, err := os.ReadFile(filepath.Join(t.root, filepath.FromSlash(file)))
	if err != nil {
		return [sha256.Size]byte{}, err
	}
	t.sums[file] = sha256.Sum256(content)
	return t.sums[file], nil
}

func (t *tree) lines(ctx context.Context, name string, args ...string) ([]string, error) {
	out, err := output(t.command(ctx, name, args...))
	if err != nil {
		return nil, err
	}
	return strings.FieldsFunc(string(out), func(r rune) bool { return r == 0 }), nil
}

func (t *tree) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = t.root
	return cmd
}

func output(cmd *exec.Cmd) ([]byte, error) {
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return nil, fmt.Errorf("%s: %w: %s", strings.Join(cmd.Args, " "), err, bytes.TrimSpace(exit.Stderr))
	} else if err != nil {
		return nil, fmt.Errorf("%s: %w", cmd.Args[0], err)
	}
	return out, nil
}
