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

	"kafkabench.example/kafka-bench/internal/plan/textfile"
)

// appender writes whole lines without a buffer, so that a crash leaves at most the last one
// incomplete.
type appender struct {
	name string

	mu   sync.Mutex
	file appendable // nil once closed
	size int64      // of the whole lines
}

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

// A second close returns nil.
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

// encode replaces control characters in texts: some texts come from brokers.
func encode(v any, indent string) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	err := e.Encode(v)
	return textfile.JSON(b.Bytes()), err
}

func fileError(name string, err error) error {
	return fmt.Errorf("the run's %s could not be written: %w", name, err)
}
