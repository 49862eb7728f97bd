package offsetmap

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"math/bits"

	"kafkabench.example/kafka-bench/kmq/internal/member"
	"kafkabench.example/kafka-bench/kmq/internal/window"
)

// The metadata of a commit is base64 (RFC 4648 without padding, since Kafka stores a string) of
//
//	version  1 byte   2, or 1 if bits 2 and 3 of the kind are not set
//	kind     1 byte   bit 0: the map is a bitset, otherwise run lengths; bit 1: the body is deflated; bit 2: the body
//	                  begins with epochs; bit 3: the partition is open (see suspicion)
//	sum      4 bytes  CRC-32C, big endian, of the committed offset (8 bytes, big endian) and all bytes but the sum
//	body              the epochs (see appendEpochs), the map, then the deliveries until the end
//
// The map holds the offsets beyond the committed one that are done. As run lengths it is the number
// of pairs, then each pair: the number of pending offsets, and the number of done ones after them.
// As a bitset it is the number of bytes, then one bit for each offset from the committed one on,
// lowest first, set if it is done. The deliveries are pairs: a number of pending offsets in order,
// and how often each was delivered; of an open partition twice that, plus 1 if it is delivered now. Offsets behind the
// last pair were not delivered. All numbers are unsigned varints.
//
// The sum includes the committed offset, because a map at another offset would mark the wrong
// records as done. MirrorMaker, for example, translates the offsets of a group and keeps their
// metadata.
const (
	version     = 2
	kindBitset  = 1 << 0
	kindDeflate = 1 << 1
	kindEpochs  = 1 << 2 // from version 2 on, as is kindOpen
	kindOpen    = 1 << 3
	headerBytes = 6
)

// The body is checked before it is inflated, and the deliveries before they are expanded.
const (
	maxBody       = 1 << 20
	maxDelivered  = 1 << 17
	maxDeliveries = 1 << 30
)

const flateFrom = 48

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

var errMetadata = errors.New("not a map of this queue")

type delivered struct {
	offset int64
	times  int
	lent   bool // it is delivered now; only known of an open partition
}

// progress is the content of a commit's metadata: the ranges that are done beyond the committed
// offset, in rising order with gaps between, the deliveries of pending records, and the leader epochs of
// the offsets up to the highest that is done.
type progress struct {
	done      []window.Range
	delivered []delivered
	epochs    member.Epochs
	open      bool
}

// not safe for concurrent use
type coder struct {
	runs, bitset, body []byte
	deflated           bytes.Buffer
	deflate            *flate.Writer
	sum                []byte
}

// encode returns the metadata of a commit at floor; empty if there is nothing to store.
func (c *coder) encode(floor int64, p progress) string {
	if len(p.done) == 0 && len(p.delivered) == 0 && len(p.epochs) == 0 && !p.open {
		return ""
	}
	v, kind := byte(1), byte(0)
	c.body = c.body[:0]
	if len(p.epochs) > 0 {
		v, kind = version, kindEpochs
		c.body = appendEpochs(c.body, floor, p.epochs)
	}
	if p.open {
		v, kind = version, kind|kindOpen
	}
	c.runs = appendRuns(c.runs[:0], floor, p.done)
	body := c.runs
	if n := bitsetBytes(floor, p.done); n < int64(len(c.runs)) {
		c.bitset = appendBitset(c.bitset[:0], floor, p.done)
		if len(c.bitset) < len(c.runs) {
			kind, body = kind|kindBitset, c.bitset
		}
	}
	c.body = appendDelivered(append(c.body, body...), floor, p)
	body = c.body
	if small := c.compress(body); len(small) < len(body) {
		kind, body = kind|kindDeflate, small
	}
	out := make([]byte, headerBytes, headerBytes+len(body))
	out[0], out[1] = v, kind
	out = append(out, body...)
	binary.BigEndian.PutUint32(out[2:], c.checksum(floor, out))
	return base64.RawStdEncoding.EncodeToString(out)
}

// fit encodes within a limit in characters. It drops deliveries of the newest records, but neither
// the map nor its epochs: it returns false if these are too long.
func (c *coder) fit(floor int64, p progress, limit int) (string, bool) {
	for {
		out := c.encode(floor, p)
		switch {
		case len(out) <= limit:
			return out, true
		case len(p.delivered) > 0:
			p.delivered = p.delivered[:len(p.delivered)/2]
		case len(p.done) == 0 && len(p.epochs) > 0:
			p.epochs = nil
		case len(p.done) == 0 && p.open:
			p.open = false
		default:
			return out, false
		}
	}
}

func (c *coder) checksum(floor int64, b []byte) uint32 {
	c.sum = binary.BigEndian.AppendUint64(c.sum[:0], uint64(floor))
	c.sum = append(c.sum, b[0], b[1])
	return crc32.Update(crc32.Checksum(c.sum, castagnoli), castagnoli, b[headerBytes:])
}

func (c *coder) compress(body []byte) []byte {
	if len(body) < flateFrom {
		return body
	}
	c.deflated.Reset()
	if c.deflate == nil {
		c.deflate, _ = flate.NewWriter(&c.deflated, flate.DefaultCompression)
	} else {
		c.deflate.Reset(&c.deflated)
	}
	if _, err := c.deflate.Write(body); err != nil {
		return body
	}
	if err := c.deflate.Close(); err != nil {
		return body
	}
	return c.deflated.Bytes()
}

func appendRuns(to []byte, floor int64, done []window.Range) []byte {
	to = binary.AppendUvarint(to, uint64(len(done)))
	for at, i := floor, 0; i < len(done); i++ {
		to = binary.AppendUvarint(to, uint64(done[i].From-at))
		to = binary.AppendUvarint(to, uint64(done[i].Len()))
		at = done[i].To
	}
	return to
}

func bitsetBytes(floor int64, done []window.Range) int64 {
	if len(done) == 0 {
		return 0
	}
	return (done[len(done)-1].To - floor + 7) / 8
}

func appendBitset(to []byte, floor int64, done []window.Range) []byte {
	n := bitsetBytes(floor, done)
	to = binary.AppendUvarint(to, uint64(n))
	start := len(to)
	to = append(to, make([]byte, n)...)
	set := to[start:]
	for _, r := range done {
		for i := r.From - floor; i < r.To-floor; i++ {
			set[i>>3] |= 1 << (i & 7)
		}
	}
	return to
}

func appendDelivered(to []byte, floor int64, p progress) []byte {
	pending := pendingIndex{next: floor, done: p.done}
	var run, times, index int64
	flush := func() {
		if run > 0 {
			to = binary.AppendUvarint(to, uint64(run))
			to = binary.AppendUvarint(to, uint64(times))
		}
	}
	add := func(n, t int64) {
		if t != times && n > 0 {
			flush()
			run, times = 0, t
		}
		run += n
	}
	for _, d := range p.delivered {
		at := pending.of(d.offset)
		if at >= maxDelivered {
			break
		}
		add(at-index, 0)
		times := int64(min(d.times, maxDeliveries))
		if p.open {
			times *= 2
			if d.lent {
				times++
			}
		}
		add(1, times)
		index = at + 1
	}
	if times != 0 {
		flush()
	}
	return to
}

type pendingIndex struct {
	next  int64
	index int64
	done  []window.Range
}

// of returns the index of a pending offset, from 0 at the floor.
func (p *pendingIndex) of(offset int64) int64 {
	for len(p.done) > 0 && p.done[0].From <= offset {
		p.index += p.done[0].From - p.next
		p.next = p.done[0].To
		p.done = p.done[1:]
	}
	return p.index + offset - p.next
}

func (c *coder) decode(floor int64, metadata string) (progress, error) {
	if metadata == "" {
		return progress{}, nil
	}
	raw, err := base64.RawStdEncoding.Strict().DecodeString(metadata)
	if err != nil {
		return progress{}, fmt.Errorf("%w: %w", errMetadata, err)
	}
	switch {
	case len(raw) < headerBytes:
		return progress{}, fmt.Errorf("%w: it has only %d bytes", errMetadata, len(raw))
	case raw[0] < 1 || raw[0] > version:
		return progress{}, fmt.Errorf("%w: version %d; this kmq reads versions 1 to %d", errMetadata, raw[0], version)
	case raw[1]&^kinds(raw[0]) != 0:
		return progress{}, fmt.Errorf("%w: unknown kind %d", errMetadata, raw[1])
	case floor < 0:
		return progress{}, fmt.Errorf("%w: the committed offset is %d", errMetadata, floor)
	case binary.BigEndian.Uint32(raw[2:]) != c.checksum(floor, raw):
		return progress{}, fmt.Errorf("%w: damaged, or written for another offset than %d", errMetadata, floor)
	}
	body := raw[headerBytes:]
	if raw[1]&kindDeflate != 0 {
		if body, err = inflate(body); err != nil {
			return progress{}, err
		}
	}
	return decodeBody(floor, body, raw[1])
}

func kinds(version byte) byte {
	if version == 1 {
		return kindBitset | kindDeflate
	}
	return kindBitset | kindDeflate | kindEpochs | kindOpen
}

func inflate(body []byte) ([]byte, error) {
	r := flate.NewReader(bytes.NewReader(body))
	out, err := io.ReadAll(io.LimitReader(r, maxBody+1))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errMetadata, err)
	}
	if len(out) > maxBody {
		return nil, fmt.Errorf("%w: more than %d bytes", errMetadata, maxBody)
	}
	return out, nil
}

func decodeBody(floor int64, body []byte, kind byte) (progress, error) {
	b := varints{rest: body}
	p := progress{open: kind&kindOpen != 0}
	if kind&kindEpochs != 0 {
		p.epochs = b.epochs(floor)
	}
	if kind&kindBitset != 0 {
		p.done = b.bitset(floor)
	} else {
		p.done = b.runs(floor)
	}
	p.delivered = b.delivered(floor, p.done, p.open)
	if b.bad != "" {
		return progress{}, fmt.Errorf("%w: %s", errMetadata, b.bad)
	}
	return p, nil
}

type varints struct {
	rest []byte
	bad  string
}

func (b *varints) fail(what string) {
	if b.bad == "" {
		b.bad = what
	}
	b.rest = nil
}

func (b *varints) next() int64 {
	v, n := binary.Uvarint(b.rest)
	if n <= 0 || v > math.MaxInt64 {
		b.fail("cut short")
		return 0
	}
	b.rest = b.rest[n:]
	return int64(v)
}

func (b *varints) runs(floor int64) []window.Range {
	n := b.next()
	if n > int64(len(b.rest)/2) {
		b.fail("cut short")
		return nil
	}
	done := make([]window.Range, 0, n)
	for at := floor; n > 0 && b.bad == ""; n-- {
		pending, length := b.next(), b.next()
		if pending == 0 || length == 0 || pending > math.MaxInt64-at || length > math.MaxInt64-at-pending {
			b.fail("an empty run, or an offset out of range")
			break
		}
		r := window.Range{From: at + pending, To: at + pending + length}
		done, at = append(done, r), r.To
	}
	return done
}

func (b *varints) bitset(floor int64) []window.Range {
	n := b.next()
	if n > int64(len(b.rest)) {
		b.fail("cut short")
		return nil
	}
	var done []window.Range
	for i, set := range b.rest[:n] {
		for ; set != 0; set &= set - 1 {
			offset := floor + int64(i)*8 + int64(bits.TrailingZeros8(set))
			if offset < floor || offset == math.MaxInt64 {
				b.fail("offsets out of range")
				return nil
			}
			if last := len(done) - 1; last >= 0 && done[last].To == offset {
				done[last].To++
			} else {
				done = append(done, window.Range{From: offset, To: offset + 1})
			}
		}
	}
	b.rest = b.rest[n:]
	if len(done) > 0 && done[0].From == floor {
		b.fail("the committed offset itself is done")
	}
	return done
}

func (b *varints) delivered(floor int64, done []window.Range, open bool) []delivered {
	var out []delivered
	total := int64(0)
	for offset := floor; len(b.rest) > 0; {
		run, times := b.next(), b.next()
		lent := open && times&1 != 0
		if open {
			times >>= 1
		}
		if run == 0 || run > maxDelivered-total || times > maxDeliveries {
			b.fail("deliveries out of range")
			break
		}
		total += run
		for ; run > 0; run-- {
			if len(done) > 0 && offset == done[0].From {
				offset, done = done[0].To, done[1:]
			}
			if offset == math.MaxInt64 {
				b.fail("an offset out of range")
				return out
			}
			if times > 0 {
				out = append(out, delivered{offset, int(times), lent})
			}
			offset++
		}
	}
	return out
}

// worstFits reports whether every map of a window fits limit characters, in whatever order records
// are done. The parameter groups bounds the groups of pending offsets, and span is the distance
// from the committed offset to the last offset that may be done. The parameter more is the number of bytes besides the
// map. worstFits ignores deliveries, because fit drops them.
func worstFits(span int64, groups, limit int, more int64) bool {
	// The smaller form is written. Three bytes take four characters.
	room := int64(limit)*3/4 - headerBytes - more
	return worstBitset(span) <= room || worstRuns(span, groups) <= room
}

func worstBitset(span int64) int64 {
	n := (span + 7) / 8
	return uvarintBytes(n) + n
}

// worstRuns bounds the bytes of two numbers for each group; the sum of all numbers is at most span.
func worstRuns(span int64, groups int) int64 {
	numbers := 2 * int64(groups)
	n := uvarintBytes(int64(groups)) + numbers
	for rest := span >> 7; rest > 0; rest >>= 7 {
		n += min(numbers, rest)
	}
	return n
}

func uvarintBytes(v int64) int64 { return int64(bits.Len64(uint64(v)|1)+6) / 7 }
