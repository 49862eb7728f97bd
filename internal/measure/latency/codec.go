package latency

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
)

// Workers in other processes add up their histograms there and send them once an interval. Unlike a histogram log,
// the encoding keeps everything: the true minimum and clamped values. It is not stored.
//
//	for each histogram that has values:
//	    book · metric · min · max · count · negative · out of range
//	    length of the counts · the counts, as in a histogram log
//
// All numbers are zig-zag LEB128.

var errMalformed = errors.New("these are not the histograms of an interval")

// Encoded is the encoded histograms of an interval; nil is empty.
type Encoded []byte

// Encode encodes the histograms of the interval.
func (i Interval) Encode() Encoded { return i.sums.encode() }

// MergeEncoded adds up encoded intervals. Any split and order gives the same bytes.
func MergeEncoded(parts ...Encoded) (Encoded, error) {
	parts = slices.DeleteFunc(slices.Clone(parts), func(e Encoded) bool { return len(e) == 0 })
	switch len(parts) {
	case 0:
		return nil, nil
	case 1:
		return parts[0], nil
	}
	var all sums
	scratch := NewHistogram()
	for _, part := range parts {
		if err := all.mergeEncoded(part, scratch); err != nil {
			return nil, err
		}
	}
	return all.encode(), nil
}

func (s *sums) encode() Encoded {
	var b, counts []byte
	for book := range numBooks {
		for m, h := range s[book] {
			if h == nil || h.count == 0 {
				continue
			}
			for _, n := range []int64{int64(book), int64(m), h.min, h.max, h.count, h.negative, h.outOfRange} {
				b = binary.AppendVarint(b, n)
			}
			counts = appendCounts(counts[:0], h)
			b = binary.AppendVarint(b, int64(len(counts)))
			b = append(b, counts...)
		}
	}
	return b
}

const headFields = 8

// mergeEncoded may add some histograms before an error.
func (s *sums) mergeEncoded(data []byte, scratch *Histogram) error {
	for len(data) > 0 {
		var head [headFields]int64
		for field := range head {
			n, length := binary.Varint(data)
			if length <= 0 {
				return errMalformed
			}
			head[field], data = n, data[length:]
		}
		book, m, count, size := head[0], head[1], head[4], head[7]
		if uint64(book) >= numBooks || uint64(m) >= NumMetrics || uint64(size) > uint64(len(data)) {
			return errMalformed
		}
		scratch.Reset()
		scratch.min, scratch.max, scratch.negative, scratch.outOfRange = head[2], head[3], head[5], head[6]
		if !scratch.takeCounts(data[:size]) || scratch.count != count {
			return errMalformed
		}
		s.at(int(book), int(m)).Merge(scratch)
		data = data[size:]
	}
	return nil
}

func (h *Histogram) takeCounts(b []byte) bool {
	if h.min > h.max {
		return false
	}
	from, to := h.span()
	slot, end := int64(0), int64(to)
	for len(b) > 0 {
		n, length := binary.Varint(b)
		if length <= 0 || n == math.MinInt64 {
			return false
		}
		b = b[length:]
		switch {
		case n < 0:
			slot += -n
		case n == 0:
			slot++
		}
		if slot < 0 || slot >= end || n > 0 && slot < int64(from) {
			return false
		}
		if n > 0 {
			h.counts[slot] = n
			h.count += n
			slot++
		}
	}
	return slot == end
}
