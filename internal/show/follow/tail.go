package follow

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"kafkabench.example/kafka-bench/internal/result"
)

// maxLine bounds a line, in bytes. A line for a topic with thousands of partitions is below a
// megabyte.
const maxLine = 64 << 20

type file interface {
	fs.File
	io.ReaderAt
}

type tail struct {
	name   string
	atOnce int                     // bytes that are read at once
	take   func(line []byte) error // the line, with its newline, is valid until take returns

	file      file  // nil until it exists
	at        int64 // the end of the last line that was taken
	seen      int64 // the size up to which the file was read
	lines     int
	buffer    []byte
	writtenAt time.Time
}

// read takes the complete lines that were appended. grown reports whether there were any, and more
// whether the file has more than is read at once. A missing file has no lines yet.
func (t *tail) read(root *os.Root) (grown, more bool, err error) {
	if t.file == nil {
		opened, err := result.Open(root.FS(), t.name)
		if errors.Is(err, fs.ErrNotExist) {
			return false, false, nil
		}
		if err != nil {
			return false, false, err
		}
		t.file = opened.(file) //nolint:forcetypeassert // a root opens *os.File
	}
	info, err := t.file.Stat()
	if err != nil {
		return false, false, err
	}
	size := info.Size()
	t.writtenAt = info.ModTime()
	switch {
	case size < t.at:
		return false, false, fmt.Errorf("%s has become shorter than its %d lines were: something else than the run writes it",
			t.name, t.lines)
	case size == t.seen:
		return false, false, nil
	}
	return t.readUpTo(size)
}

func (t *tail) readUpTo(size int64) (grown, more bool, err error) {
	if t.buffer == nil {
		t.buffer = make([]byte, t.atOnce)
	}
	for {
		n, err := t.file.ReadAt(t.buffer[:min(size-t.at, int64(len(t.buffer)))], t.at)
		if err != nil && !errors.Is(err, io.EOF) {
			return false, false, err
		}
		whole := bytes.LastIndexByte(t.buffer[:n], '\n') + 1
		if err := t.takeAll(t.buffer[:whole]); err != nil {
			return false, false, err
		}
		reached := t.at + int64(n)
		t.at += int64(whole)
		if n < len(t.buffer) || reached == size {
			t.seen = size
			return whole > 0, false, nil
		}
		if whole > 0 {
			return true, true, nil
		}
		if len(t.buffer) >= maxLine {
			return false, false, fmt.Errorf("%s:%d: the line is longer than %d bytes", t.name, t.lines+1, maxLine)
		}
		t.buffer = make([]byte, 2*len(t.buffer))
	}
}

func (t *tail) takeAll(lines []byte) error {
	for line := range bytes.Lines(lines) {
		t.lines++
		if err := t.take(line); err != nil {
			return fmt.Errorf("%s:%d: %w", t.name, t.lines, err)
		}
	}
	return nil
}

func (t *tail) close() error {
	if t.file == nil {
		return nil
	}
	return t.file.Close()
}
