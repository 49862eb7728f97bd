package crash

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"io"

	"kafkabench.example/kafka-bench/kmq"
)

// probeMap decodes a commit's metadata with code of its own.
func (v *world) probeMap(p int32, committed int64, metadata string, dead map[int]int, copies map[kmq.ID]int64) {
	v.t.Helper()
	done, err := readMap(committed, metadata)
	if err != nil {
		v.t.Errorf("metadata %q of partition %d: %v", metadata, p, err)
		return
	}
	for _, offset := range done {
		if why := v.owed(p, offset, dead, copies); why != "" {
			v.t.Errorf("LOST: the map of partition %d at %d says that %d is done, but %s", p, committed, offset, why)
			return
		}
	}
}

func readMap(committed int64, metadata string) ([]int64, error) {
	raw, err := base64.RawStdEncoding.DecodeString(metadata)
	if err != nil || len(raw) == 0 {
		return nil, err
	}
	const header, bitset, deflated, epochs = 6, 1, 2, 4
	if len(raw) < header {
		return nil, io.ErrUnexpectedEOF
	}
	body := raw[header:]
	if raw[1]&deflated != 0 {
		if body, err = io.ReadAll(flate.NewReader(bytes.NewReader(body))); err != nil {
			return nil, err
		}
	}
	in, done := bytes.NewReader(body), []int64{}
	if raw[1]&epochs != 0 {
		n, _ := binary.ReadUvarint(in)
		for range 2 * n {
			_, _ = binary.ReadUvarint(in)
		}
	}
	n, err := binary.ReadUvarint(in)
	if err != nil {
		return nil, err
	}
	if raw[1]&bitset != 0 {
		for i := range int64(n) {
			b, err := in.ReadByte()
			if err != nil {
				return nil, err
			}
			for bit := range int64(8) {
				if b&(1<<bit) != 0 {
					done = append(done, committed+8*i+bit)
				}
			}
		}
		return done, nil
	}
	for at := committed; n > 0; n-- {
		pending, err1 := binary.ReadUvarint(in)
		run, err2 := binary.ReadUvarint(in)
		if err := errors.Join(err1, err2); err != nil {
			return nil, err
		}
		at += int64(pending)
		for range run {
			done = append(done, at)
			at++
		}
	}
	return done, nil
}
