//go:build unix

package resulttest

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"kafkabench.example/kafka-bench/internal/result"
)

// Hostile are files that a stranger's run may have, by name: each makes the file at a path that it replaces. Read
// without bounds, they hang a program, fill its memory, or show a file from outside of the run's folder.
func Hostile() map[string]func(path string) error {
	return map[string]func(string) error{
		"link":        func(path string) error { return os.Symlink("/etc/passwd", path) },
		"endless":     func(path string) error { return os.Symlink("/dev/zero", path) },
		"pipe":        func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"folder":      func(path string) error { return os.Mkdir(path, 0o700) },
		"huge":        sparse(22_700_000_000),
		"line":        text(func() string { return `{"phase":"` + strings.Repeat("x", 17<<20) + `"}` + "\n" }),
		"short lines": text(func() string { return strings.Repeat("{}\n", 20_000) }),
		"structures":  text(func() string { return `{"phases":[` + strings.Repeat("{},", 200_000) + "{}]}\n" }),
		"deep":        text(func() string { return strings.Repeat("[", 200_000) }),
		"zeros":       text(func() string { return strings.Repeat("\x00", 1<<20) + "\n" }),
	}
}

func sparse(bytes int64) func(string) error {
	return func(path string) error {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			return err
		}
		return os.Truncate(path, bytes)
	}
}

func text(of func() string) func(string) error {
	return func(path string) error { return os.WriteFile(path, []byte(of()), 0o600) }
}

// Replace puts a hostile file in the place of a run's file.
func Replace(dir, file string, with func(path string) error) error {
	path := filepath.Join(dir, file)
	if err := os.RemoveAll(path); err != nil {
		return err
	}
	return with(path)
}

// ReadFiles are the files that reading a run reads as a whole.
func ReadFiles() []string {
	return []string{result.SummaryFile, result.IntervalsFile, result.EventsFile, result.AgentsFile, result.CurvesFile}
}
