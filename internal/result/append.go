package result

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
)

// appender appends whole lines to one file of a run, without a buffer. After a crash of the tool
// only the line that was being written may be incomplete.
type appender struct {
	name string

	mu   sync.Mutex
	file appendable // nil once closed
	size int64      // of the whole lines
}

// appendable is the part of *os.File that an appender uses.
type appendable interface {
	io.Writer
	Truncate(size int64) error
	Sync() error
	Close() error
}

func newAppender(dir, name string) (*appender, error) {
	f, err := os.OpenFile(filepath.Join(dir, name), os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, fileError(name, err)
	}
	return &appender{name: name, file: f}, nil
}

// Write appends p completely or not at all. If the disk is full, it truncates the file to whole
// lines.
func (a *appender) Write(p []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.file == nil {
		return 0, fileError(a.name, errors.New("the run is closed"))
	}
	n, err := a.file.Write(p)
	if err != nil {
		if n > 0 {
			err = errors.Join(err, a.file.Truncate(a.size))
		}
		return 0, fileError(a.name, err)
	}
	a.size += int64(n)
	return n, nil
}

func (a *appender) line(v any) error {
	b, err := encode(v, "")
	if err != nil {
		return fileError(a.name, err)
	}
	_, err = a.Write(b)
	return err
}

// close syncs the file and closes it. A second close returns nil.
func (a *appender) close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.file == nil {
		return nil
	}
	err := errors.Join(a.file.Sync(), a.file.Close())
	a.file = nil
	if err != nil {
		return fileError(a.name, err)
	}
	return nil
}

// encode returns v as JSON with a final newline, without HTML escapes.
func encode(v any, indent string) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	err := e.Encode(v)
	return b.Bytes(), err
}

func fileError(name string, err error) error {
	return fmt.Errorf("the run's %s could not be written: %w", name, err)
}
