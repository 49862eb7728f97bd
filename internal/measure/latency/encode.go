package latency

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// The HdrHistogram V2 encoding. An encoded histogram is base64 of
//
//	int32 compressed cookie · int32 length · zlib of
//	    int32 cookie · int32 payload length · int32 normalising offset 0
//	    int32 significant digits · int64 lowest · int64 highest value
//	    float64 integer-to-double ratio 1
//	    payload: the counts up to the last that is not zero, as zig-zag LEB128;
//	             a negative number −n is a run of n zeros
//
// all big-endian. The 0x10 in a cookie means counts of variable length.
const (
	cookieV2           = 0x1c849303 | 0x10
	cookieV2Compressed = 0x1c849304 | 0x10
	significantDigits  = 3
	lowestNs           = 1
)

// encoder reuses its buffers, because a compressor takes a megabyte.
type encoder struct {
	plain  []byte
	packed bytes.Buffer
	zlib   *zlib.Writer
	text   []byte
}

// The bytes of encode are valid until the next call.
func (e *encoder) encode(h *Histogram) ([]byte, error) {
	e.plain = appendPlain(e.plain[:0], h)
	e.packed.Reset()
	e.packed.Write(make([]byte, 8))
	if e.zlib == nil {
		e.zlib, _ = zlib.NewWriterLevel(&e.packed, zlib.BestSpeed)
	} else {
		e.zlib.Reset(&e.packed)
	}
	if _, err := e.zlib.Write(e.plain); err != nil {
		return nil, err
	}
	if err := e.zlib.Close(); err != nil {
		return nil, err
	}
	packed := e.packed.Bytes()
	binary.BigEndian.PutUint32(packed, cookieV2Compressed)
	binary.BigEndian.PutUint32(packed[4:], uint32(len(packed)-8))
	e.text = base64.StdEncoding.AppendEncode(e.text[:0], packed)
	return e.text, nil
}

func appendPlain(b []byte, h *Histogram) []byte {
	b = binary.BigEndian.AppendUint32(b, cookieV2)
	lengthAt := len(b)
	b = binary.BigEndian.AppendUint32(b, 0)
	b = binary.BigEndian.AppendUint32(b, 0)
	b = binary.BigEndian.AppendUint32(b, significantDigits)
	b = binary.BigEndian.AppendUint64(b, lowestNs)
	b = binary.BigEndian.AppendUint64(b, uint64(HighestNs))
	b = binary.BigEndian.AppendUint64(b, math.Float64bits(1))
	payloadAt := len(b)
	b = appendCounts(b, h)
	binary.BigEndian.PutUint32(b[lengthAt:], uint32(len(b)-payloadAt))
	return b
}

// Go's varint is the format's zig-zag LEB128 for counts below 2⁵⁵.
func appendCounts(b []byte, h *Histogram) []byte {
	if h.count == 0 {
		return b
	}
	from, to := h.span()
	zeros := int64(from)
	for _, n := range h.counts[from:to] {
		if n == 0 {
			zeros++
			continue
		}
		b = appendZeros(b, zeros)
		zeros = 0
		b = binary.AppendVarint(b, n)
	}
	return b
}

// appendZeros writes a single zero as 0, more as their negative number.
func appendZeros(b []byte, n int64) []byte {
	switch n {
	case 0:
		return b
	case 1:
		return binary.AppendVarint(b, 0)
	default:
		return binary.AppendVarint(b, -n)
	}
}

func decode(text []byte) (*Histogram, error) {
	decoded, err := hdrhistogram.Decode(text)
	if err != nil {
		return nil, err
	}
	snapshot := decoded.Export()
	if snapshot.LowestTrackableValue != lowestNs || snapshot.HighestTrackableValue != HighestNs ||
		snapshot.SignificantFigures != significantDigits {
		return nil, fmt.Errorf("the histogram has %d digits from %d to %d, but a run's has %d from %d to %d",
			snapshot.SignificantFigures, snapshot.LowestTrackableValue, snapshot.HighestTrackableValue,
			significantDigits, lowestNs, HighestNs)
	}
	h := NewHistogram()
	for slot, n := range snapshot.Counts {
		if n > 0 {
			lowest, _ := slotValues(slot)
			h.RecordN(lowest, n)
		}
	}
	return h, nil
}
