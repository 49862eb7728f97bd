package fleet

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"iter"
	"os"

	"kafkabench.example/kafka-bench/internal/measure/snapshot"
)

// spool keeps snapshots in a file, each after its length.
type spool struct {
	file   *os.File
	number int
}

func newSpool(dir string) (*spool, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("the spool: %w", err)
	}
	file, err := os.CreateTemp(dir, "snapshots-*")
	if err != nil {
		return nil, fmt.Errorf("the spool: %w", err)
	}
	return &spool{file: file}, nil
}

func (s *spool) add(snap snapshot.Snapshot) error {
	data, err := snap.MarshalBinary()
	if err != nil {
		return err
	}
	return s.write(data)
}

func (s *spool) write(data []byte) error {
	if _, err := s.file.Write(binary.AppendUvarint(nil, uint64(len(data)))); err != nil {
		return fmt.Errorf("the spool: %w", err)
	}
	if _, err := s.file.Write(data); err != nil {
		return fmt.Errorf("the spool: %w", err)
	}
	s.number++
	return nil
}

func (s *spool) encoded() iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		in := bufio.NewReader(io.NewSectionReader(s.file, 0, 1<<62))
		for range s.number {
			size, err := binary.ReadUvarint(in)
			var data []byte
			if err == nil {
				data = make([]byte, size)
				_, err = io.ReadFull(in, data)
			}
			if !yield(data, err) || err != nil {
				return
			}
		}
	}
}

func (s *spool) snapshots() iter.Seq2[snapshot.Snapshot, error] {
	return func(yield func(snapshot.Snapshot, error) bool) {
		for data, err := range s.encoded() {
			var snap snapshot.Snapshot
			if err == nil {
				err = snap.UnmarshalBinary(data)
			}
			if !yield(snap, err) || err != nil {
				return
			}
		}
	}
}

func (s *spool) close() {
	_ = s.file.Close()
	_ = os.Remove(s.file.Name())
}
