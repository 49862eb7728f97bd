package result

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// A run may be a stranger's. So its files are regular files, and have bounds far above those of the largest runs.
const (
	maxDocumentBytes = 16 << 20 // of run.json, campaign.json and curves.json
	maxSeriesBytes   = 2 << 30  // of any other file
	maxLines         = 1_000_000
	maxLineBytes     = 16 << 20
	// Structures are objects and lists of JSON: an empty one takes hundreds of times its text in memory.
	// A run of 1,000 partitions has 6,000.
	maxStructures = 150_000
	// minLineBytes is the least mean length of more than manyLines lines.
	minLineBytes = 32
	manyLines    = 10_000
)

// Open opens a file of a run's folder, with what is known of it. It refuses links, pipes, devices and files that
// are larger than any run's.
func Open(fsys fs.FS, name string) (fs.File, error) { return openRegular(fsys, name, maxSeriesBytes) }

// OpenOS is Open for a path.
func OpenOS(path string) (fs.File, error) { return Open(osFiles{}, path) }

func openRegular(fsys fs.FS, name string, most int64) (fs.File, error) {
	info, err := fs.Lstat(fsys, name)
	if err != nil {
		return nil, err
	}
	if kind := kindOf(info.Mode()); kind != "" {
		return nil, fmt.Errorf("%s is %s, and a run has only files: remove it, or put a copy of the file there", name, kind)
	}
	if info.Size() > most {
		return nil, tooLarge(name, most)
	}
	f, err := openKnown(fsys, name)
	if err != nil {
		return nil, err
	}
	if now, err := f.Stat(); err != nil || !now.Mode().IsRegular() || os.SameFile(info, info) && !os.SameFile(info, now) {
		f.Close()
		return nil, errors.Join(fmt.Errorf("%s was replaced while it was opened: read the run again", name), err)
	}
	return f, nil
}

// openKnown does not wait for the other end of a pipe.
func openKnown(fsys fs.FS, name string) (fs.File, error) {
	if _, is := fsys.(osFiles); is {
		return os.OpenFile(name, os.O_RDONLY|noLinkNorWait, 0)
	}
	return fsys.Open(name)
}

func tooLarge(name string, most int64) error {
	return fmt.Errorf("%s is larger than %d bytes, which no run's file is: it was not written by kafka-bench", name, most)
}

// kindOf is "" for a regular file.
func kindOf(mode os.FileMode) string {
	switch {
	case mode.IsRegular():
		return ""
	case mode&fs.ModeSymlink != 0:
		return "a link"
	case mode.IsDir():
		return "a folder"
	case mode&fs.ModeNamedPipe != 0:
		return "a pipe"
	default:
		return "a device or a socket"
	}
}

func readRegular(fsys fs.FS, name string) ([]byte, error) {
	f, err := openRegular(fsys, name, maxDocumentBytes)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxDocumentBytes+1))
	if err == nil && len(b) > maxDocumentBytes {
		err = tooLarge(name, maxDocumentBytes)
	}
	if err == nil && structures(b) > maxStructures {
		err = fmt.Errorf("%s has more than %d lists and objects, which no run's file has: it was not written by kafka-bench",
			name, maxStructures)
	}
	return b, err
}

func structures(b []byte) int { return bytes.Count(b, []byte("{")) + bytes.Count(b, []byte("[")) }

// checkLine refuses a line that would take too much memory. read is the length of all lines so far.
func checkLine(line []byte, number int, read int64) error {
	switch {
	case len(line) > maxLineBytes:
		return fmt.Errorf("the line is longer than %d bytes, which no run's is", maxLineBytes)
	case number > maxLines:
		return fmt.Errorf("the file has more than %d lines", maxLines)
	case number > manyLines && read < int64(number)*minLineBytes:
		return fmt.Errorf("the lines are shorter than any run's: fewer than %d bytes on average", minLineBytes)
	case structures(line) > maxStructures:
		return fmt.Errorf("the line has more than %d lists and objects, which no run's has", maxStructures)
	}
	return nil
}
