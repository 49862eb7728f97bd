package snapshot

import (
	"cmp"
	"encoding"
	"encoding/binary"
	"errors"
	"maps"
	"math"
	"slices"
)

var (
	errMalformed = errors.New("the bytes are not a snapshot")
	errNoBooks   = errors.New("a snapshot has nil books")
)

// Reading and writing visit the same fields in the same order.
type coder struct {
	reads bool
	b     []byte
	err   error // after it, every number read is 0
}

func (c *coder) fail(err error) { c.err = cmp.Or(c.err, err) }

func (c *coder) number(n, limit uint64) uint64 {
	if !c.reads {
		c.b = binary.AppendUvarint(c.b, n)
		return n
	}
	n, length := binary.Uvarint(c.b)
	if length <= 0 || n > limit {
		c.fail(errMalformed)
	}
	if c.err != nil {
		return 0
	}
	c.b = c.b[length:]
	return n
}

// integers codes zig-zag numbers, like [binary.AppendVarint].
func integers[T ~int | ~int32 | ~int64 | ~uint64](c *coder, all ...*T) {
	for _, p := range all {
		n := int64(*p)
		zigzag := c.number(uint64(n<<1)^uint64(n>>63), math.MaxUint64)
		if n = int64(zigzag>>1) ^ -int64(zigzag&1); n != int64(T(n)) {
			c.fail(errMalformed)
		}
		if T(n) != *p {
			*p = T(n)
		}
	}
}

func integer(p *int64, c *coder) { integers(c, p) }

func (c *coder) flags(all ...*bool) {
	for _, p := range all {
		n := uint64(0)
		if *p {
			n = 1
		}
		if is := c.number(n, 1) == 1; is != *p {
			*p = is
		}
	}
}

// count codes a number of elements; −1 is nil. Each element takes at least bytesEach bytes, which bounds
// allocation.
func (c *coder) count(n int, isNil bool, bytesEach int) int {
	if isNil {
		n = -1
	}
	return int(c.number(uint64(n+1), uint64(len(c.b)/bytesEach)+1)) - 1
}

func (c *coder) bytes(b []byte) []byte {
	n := c.count(len(b), b == nil, 1)
	if !c.reads {
		c.b = append(c.b, b...)
		return b
	}
	if n > len(c.b) {
		c.fail(errMalformed)
	}
	if n < 0 || c.err != nil {
		return nil
	}
	b, c.b = c.b[:n:n], c.b[n:]
	return b
}

func blob[T ~[]byte](c *coder, p *T) {
	if b := c.bytes(*p); *p == nil {
		*p = slices.Clone(T(b))
	}
}

func (c *coder) text(p *string) {
	if b := c.bytes([]byte(*p)); string(b) != *p {
		*p = string(b)
	}
}

func list[T any](c *coder, p *[]T, bytesEach int, each func(*T, *coder)) {
	if n := c.count(len(*p), *p == nil, bytesEach); n >= 0 && *p == nil {
		*p = make([]T, n)
	}
	for i := 0; i < len(*p) && c.err == nil; i++ {
		each(&(*p)[i], c)
	}
}

func optional[T any](c *coder, p **T, code func(*T, *coder)) {
	there := *p != nil
	if c.flags(&there); !there {
		return
	}
	if *p == nil {
		*p = new(T)
	}
	code(*p, c)
}

type pair[K, V any] struct {
	key   K
	value V
}

func dictionary[K cmp.Ordered, V any](c *coder, m *map[K]V, each func(*pair[K, V], *coder)) {
	var pairs []pair[K, V]
	if *m != nil {
		pairs = make([]pair[K, V], 0, len(*m))
	}
	for _, key := range slices.Sorted(maps.Keys(*m)) {
		pairs = append(pairs, pair[K, V]{key, (*m)[key]})
	}
	list(c, &pairs, 2, each)
	if *m != nil || pairs == nil {
		return
	}
	*m = make(map[K]V, len(pairs))
	for i, p := range pairs {
		if i > 0 && p.key <= pairs[i-1].key {
			c.fail(errMalformed)
		}
		(*m)[p.key] = p.value
	}
}

type book[T any] interface {
	*T
	encoding.BinaryMarshaler
	encoding.BinaryUnmarshaler
}

// Decoded books are never nil: Merge relies on that.
func books[T any, B book[T]](p *B, c *coder) {
	if c.reads {
		*p = new(T)
		c.fail((*p).UnmarshalBinary(c.bytes(nil)))
		return
	}
	if *p == nil {
		c.fail(errNoBooks)
		return
	}
	b, err := (*p).MarshalBinary()
	c.fail(err)
	c.bytes(b)
}
