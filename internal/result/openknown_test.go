//go:build unix

package result

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// swapping replaces a file between the look at it and its opening.
type swapping struct {
	osFiles
	with func(name string) error
}

func (s swapping) Lstat(name string) (fs.FileInfo, error) {
	info, err := os.Lstat(name)
	if err == nil {
		err = s.with(name)
	}
	return info, err
}

// A file that is replaced while it is opened is refused, and a pipe in its place is not waited for.
func TestReplacedFile(t *testing.T) {
	for kind, with := range map[string]func(name string) error{
		"another file": func(name string) error { return os.WriteFile(name, nil, 0o600) },
		"a link":       func(name string) error { return os.Symlink(os.DevNull, name) },
	} {
		name := filepath.Join(t.TempDir(), SummaryFile)
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Open(swapping{with: func(name string) error {
			if err := os.Rename(name, name+".before"); err != nil {
				return err
			}
			return with(name)
		}}, name)
		if err == nil || !strings.Contains(err.Error(), "was replaced") {
			t.Errorf("%s: %v", kind, err)
		}
	}
	pipe, link := filepath.Join(t.TempDir(), "pipe"), filepath.Join(t.TempDir(), "link")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(pipe, link); err != nil {
		t.Fatal(err)
	}
	f, err := openKnown(osFiles{}, pipe)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	if f, err := openKnown(osFiles{}, link); err == nil {
		f.Close()
		t.Error("a link was followed")
	}
}
