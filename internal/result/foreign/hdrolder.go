package foreign

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
)

// The cookies of compressed and of plain histograms; their second lowest digit is the size of a
// count in bytes.
const (
	hdrV0, hdrV0Plain = 0x1c849309, 0x1c849308
	hdrV1, hdrV1Plain = 0x1c849302, 0x1c849301
	hdrV2, hdrV2Plain = 0x1c849304, 0x1c849303
)

// maxHdrPayload bounds the counts of a histogram, in bytes.
const maxHdrPayload = 64 << 20

// modernHdr converts an encoding before HdrHistogram 2.1.7 (V0 and V1) to V2, which the library
// reads. It returns other texts as they are.
func modernHdr(text string) (string, error) {
	raw, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(text, "="))
	if err != nil || len(raw) < 8 {
		return text, nil //nolint:nilerr // the library says what is wrong
	}
	version := binary.BigEndian.Uint32(raw) &^ 0xf0
	if version != hdrV0 && version != hdrV1 {
		return text, nil
	}
	z, err := zlib.NewReader(bytes.NewReader(raw[8:]))
	if err != nil {
		return "", err
	}
	plain, err := io.ReadAll(io.LimitReader(z, maxHdrPayload+1))
	switch {
	case err != nil:
		return "", err
	case len(plain) > maxHdrPayload:
		return "", errors.New("its counts are too many")
	}
	header, payload, err := olderHeader(plain)
	if err != nil {
		return "", err
	}
	counts, err := olderCounts(payload, int(binary.BigEndian.Uint32(plain)>>4&0xf))
	if err != nil {
		return "", err
	}
	return encodeV2(header, counts), nil
}

// A hdrHeader are the digits, and the lowest and highest value.
type hdrHeader struct {
	digits    uint32
	low, high uint64
}

func olderHeader(plain []byte) (h hdrHeader, payload []byte, err error) {
	const v0, v1 = 32, 40 // bytes
	if len(plain) < v1 {
		return h, nil, errors.New("it is cut")
	}
	be := binary.BigEndian
	switch cookie := be.Uint32(plain) &^ 0xf0; cookie {
	case hdrV0Plain:
		return hdrHeader{be.Uint32(plain[4:]), be.Uint64(plain[8:]), be.Uint64(plain[16:])}, plain[v0:], nil
	case hdrV1Plain:
		length := int(be.Uint32(plain[4:]))
		if length > len(plain)-v1 {
			return h, nil, errors.New("it is cut")
		}
		return hdrHeader{be.Uint32(plain[12:]), be.Uint64(plain[16:]), be.Uint64(plain[24:])}, plain[v1 : v1+length], nil
	default:
		return h, nil, fmt.Errorf("its cookie %#x is not that of a histogram", cookie)
	}
}

func olderCounts(payload []byte, size int) (counts []int64, err error) {
	if size != 2 && size != 4 && size != 8 {
		return nil, fmt.Errorf("a count has %d bytes", size)
	}
	for ; len(payload) >= size; payload = payload[size:] {
		n := int64(0)
		for _, b := range payload[:size] {
			n = n<<8 | int64(b)
		}
		if n < 0 || n>>(8*size-1) != 0 || n > math.MaxInt64>>9 { // a set sign, or too long for a V2 count
			return nil, errors.New("a count is below 0 or too large")
		}
		counts = append(counts, n)
	}
	return counts, nil
}

func encodeV2(h hdrHeader, counts []int64) string {
	var payload []byte
	zeros := int64(0)
	for _, n := range counts {
		if n == 0 {
			zeros++
			continue
		}
		if zeros > 0 {
			payload = binary.AppendVarint(payload, -zeros)
		}
		payload, zeros = binary.AppendVarint(payload, n), 0
	}
	be := binary.BigEndian
	plain := be.AppendUint32(nil, hdrV2Plain|0x10)
	plain = be.AppendUint32(plain, uint32(len(payload)))
	plain = be.AppendUint32(plain, 0)
	plain = be.AppendUint32(plain, h.digits)
	plain = be.AppendUint64(be.AppendUint64(plain, h.low), h.high)
	plain = be.AppendUint64(plain, math.Float64bits(1))
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	_, _ = z.Write(append(plain, payload...)) // a buffer takes everything
	_ = z.Close()
	head := be.AppendUint32(be.AppendUint32(nil, hdrV2|0x10), uint32(packed.Len()))
	return base64.StdEncoding.EncodeToString(append(head, packed.Bytes()...))
}
