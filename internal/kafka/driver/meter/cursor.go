package meter

import "encoding/binary"

// cursor reads Kafka's primitive types. After the bytes end, short is true and all values are zero.
type cursor struct {
	bytes    []byte
	flexible bool // compact lengths and tagged fields (KIP-482)
	at       int
	short    bool
}

func (c *cursor) take(n int) []byte {
	if c.short || n < 0 || n > len(c.bytes)-c.at {
		c.short = true
		return nil
	}
	taken := c.bytes[c.at : c.at+n]
	c.at += n
	return taken
}

func (c *cursor) skip(n int) { c.take(n) }

func (c *cursor) int16() int16 {
	if b := c.take(2); b != nil {
		return int16(binary.BigEndian.Uint16(b))
	}
	return 0
}

func (c *cursor) int32() int32 {
	if b := c.take(4); b != nil {
		return int32(binary.BigEndian.Uint32(b))
	}
	return 0
}

func (c *cursor) uvarint() int {
	if c.short {
		return 0
	}
	v, n := binary.Uvarint(c.bytes[c.at:])
	if n <= 0 {
		c.short = true
		return 0
	}
	c.at += n
	return int(min(v, 1<<31-1))
}

// arrayLength, stringLength and bytesLength return 0 for null.
func (c *cursor) arrayLength() int { return c.length(c.int32) }
func (c *cursor) bytesLength() int { return c.length(c.int32) }
func (c *cursor) stringLength() int {
	return c.length(func() int32 { return int32(c.int16()) })
}

func (c *cursor) length(plain func() int32) int {
	if c.flexible {
		return max(c.uvarint()-1, 0)
	}
	return max(int(plain()), 0)
}

func (c *cursor) tags() {
	if !c.flexible {
		return
	}
	for range c.uvarint() {
		if c.short {
			return
		}
		c.uvarint() // the tag
		c.skip(c.uvarint())
	}
}
