package payload

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"slices"
	"syscall"
)

// MaxFileBytes bounds a file of records, because it is held in memory.
const MaxFileBytes = 64 << 20

// Formats of a file of records. With Lines, each line is a record; its end (LF, or CR and LF) is not part of it. With
// LengthPrefixed, each record follows its length, four bytes, big-endian.
const (
	Lines          = "lines"
	LengthPrefixed = "length-prefixed"
)

// Formats are the names of the formats.
var Formats = []string{Lines, LengthPrefixed}

// File names a file of records.
type File struct {
	// Within is a folder that the file has to be in, links followed; Path is then relative to it. "" is no bound.
	Within string
	Path   string
	Format string // one of Formats
	SHA256 string // of the content, in hexadecimal; "" is any content
}

// FileStats describes the records of a file. The percentiles of the sizes are nearest ranks.
type FileStats struct {
	SHA256             string
	Records            int
	Bytes              int64 // of all records
	Min, P50, P99, Max int
}

// Mean returns the mean size of a record, in bytes.
func (s FileStats) Mean() float64 { return float64(s.Bytes) / float64(s.Records) }

// ReadFile returns the corpus of a file, without stamps. Its bodies are the file's records, in order. An error says
// what is wrong with the file and what to do, but not its path.
func ReadFile(f File) (*Corpus, error) {
	content, err := f.read()
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(content)
	stats := FileStats{SHA256: hex.EncodeToString(sum[:])}
	if f.SHA256 != "" && f.SHA256 != stats.SHA256 {
		return nil, fmt.Errorf("its SHA-256 is %s, and sha256 is %s: it is another file, or was changed; give the file as it was, or leave sha256 out",
			stats.SHA256, f.SHA256)
	}
	next := nextLine
	if f.Format == LengthPrefixed {
		next = nextPrefixed
	}
	c, err := newFileCorpus(content, next)
	if err != nil {
		return nil, err
	}
	stats.describe(c)
	c.file = &stats
	return c, nil
}

func (f File) read() ([]byte, error) {
	open, err := f.open()
	if err != nil {
		return nil, fmt.Errorf("%w; name a file that can be read", err)
	}
	defer open.Close()
	info, err := open.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errors.New("it is not a regular file; name a file of records")
	}
	content, err := io.ReadAll(io.LimitReader(open, MaxFileBytes+1))
	switch {
	case err != nil:
		return nil, err
	case len(content) > MaxFileBytes:
		return nil, fmt.Errorf("it has more than %d MiB, and is held in memory; cut it, as head -n does",
			MaxFileBytes>>20)
	case len(content) == 0:
		return nil, errors.New("it is empty; give at least one record")
	}
	return content, nil
}

// A FIFO would block without O_NONBLOCK.
func (f File) open() (*os.File, error) {
	const flags = os.O_RDONLY | syscall.O_NONBLOCK
	if f.Within == "" {
		return os.OpenFile(f.Path, flags, 0)
	}
	root, err := os.OpenRoot(f.Within)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return root.OpenFile(f.Path, flags, 0)
}

// next cuts a content into a record and the rest.
func newFileCorpus(content []byte, next func([]byte) (record, rest []byte, err error)) (*Corpus, error) {
	c := &Corpus{bodies: content[:0]} // a record moves to the left, over what was read
	for rest := content; len(rest) > 0; {
		record, after, err := next(rest)
		if err == nil && len(record) == 0 {
			err = errors.New("it is empty; a record has at least one byte")
		}
		if err != nil {
			return nil, fmt.Errorf("record %d: %w", len(c.index)+1, err)
		}
		c.index = append(c.index, entry{uint32(len(c.bodies)), crc32.Checksum(record, castagnoli)})
		c.bodies, rest = append(c.bodies, record...), after
	}
	c.index = append(c.index, entry{start: uint32(len(c.bodies))})
	return c, nil
}

func nextLine(content []byte) (record, rest []byte, err error) {
	record, rest, _ = bytes.Cut(content, []byte("\n"))
	return bytes.TrimSuffix(record, []byte("\r")), rest, nil
}

const prefixBytes = 4

func nextPrefixed(content []byte) (record, rest []byte, err error) {
	if len(content) < prefixBytes {
		return nil, nil, fmt.Errorf("%d bytes are left, and its length has %d; is the file cut short, or its format %s?",
			len(content), prefixBytes, Lines)
	}
	length, after := int64(binary.BigEndian.Uint32(content)), content[prefixBytes:]
	if length > int64(len(after)) {
		return nil, nil, fmt.Errorf("its length is %d bytes, and %d are left; is the file cut short, or its format %s?",
			length, len(after), Lines)
	}
	return after[:length], after[length:], nil
}

func (s *FileStats) describe(c *Corpus) {
	sizes := make([]int, c.Len())
	for i := range sizes {
		sizes[i] = c.ValueBytes(uint64(i))
	}
	slices.Sort(sizes)
	rank := func(share float64) int { return sizes[int(math.Ceil(share*float64(len(sizes))))-1] }
	s.Records, s.Bytes = c.Len(), c.Bytes()
	s.Min, s.P50, s.P99, s.Max = sizes[0], rank(0.5), rank(0.99), sizes[len(sizes)-1]
}
