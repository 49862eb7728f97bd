package main

import (
	"errors"
	"io"
	"os"
	"syscall"
)

// pipe is standard output or standard error that leads to another process. When that process has ended, as head does,
// what is written is dropped, so that a run goes on (see outliveReaders). Other commands end at the first write instead.
type pipe struct{ file *os.File }

func (p pipe) Write(b []byte) (int, error) {
	n, err := p.file.Write(b)
	if errors.Is(err, syscall.EPIPE) {
		return len(b), nil
	}
	return n, err
}

// outOf returns f, as a pipe if it is one.
func outOf(f *os.File) io.Writer {
	if info, err := f.Stat(); err == nil && info.Mode()&(os.ModeNamedPipe|os.ModeSocket) != 0 {
		return pipe{f}
	}
	return f
}
