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

// appender writes one file of a run, a whole line with each call, straight to
// the operating system: what was written is there after a crash of the tool,
// and at worst the line that was being written is cut short.
type appender struct {
	name string

	mu   sync.Mutex
	file appendable // nil once closed
	size int64      // of the whole lines
}

// appendable is what an appender needs of an *os.File opened for appending.
type appendable interface {
	io.Writer
	Truncate(size int64) error
	Sync() error
	Close() error
}

// newAppender makes the file name in dir.
func newAppender(dir, name string) (*appender, error) {
	f, err := os.OpenFile(filepath.Join(dir, name), os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, fileError(name, err)
	}
	return &appender{name: name, file: f}, nil
}

// Write appends p in one piece, or nothing of it: when the disk is full, what
// did fit is taken back, so that the file holds whole lines when there is
// space again.
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

// line appends v as one line of JSON.
func (a *appender) line(v any) error {
	b, err := encode(v, "")
	if err != nil {
		return fileError(a.name, err)
	}
	_, err = a.Write(b)
	return err
}

// close waits until the file is on the disk and closes it. Closing twice is
// no error.
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

// encode returns v as JSON with a newline at its end. Text stays readable:
// nothing is escaped for HTML.
func encode(v any, indent string) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	err := e.Encode(v)
	return b.Bytes(), err
}

// fileError says which file of the run could not be written.
func fileError(name string, err error) error {
	return fmt.Errorf("the run's %s could not be written: %w", name, err)
}
