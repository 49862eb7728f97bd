package payload

import (
	"encoding/binary"
	"hash/crc32"
	"math"
	"testing"

	"pgregory.net/rapid"
)

func fixed(size int) Sizes { return Sizes{Distribution: "fixed", Values: []int{size}} }

func newCorpus(t testing.TB, class string, sizes Sizes, stamped bool) *Corpus {
	t.Helper()
	c, err := NewCorpus(Spec{Class: class, Seed: 42, Sizes: sizes, Stamped: stamped})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

var someStamp = Stamp{Run: 0xC0FFEE, Producer: 7, Partition: 11, Sequence: 1 << 40, Intended: -5, Actual: math.MaxInt64}

// Producer and consumer may be of different builds.
func TestStampLayout(t *testing.T) {
	c := newCorpus(t, "zeros", fixed(StampSize+1), true)
	value := c.Value(nil, 0, &someStamp)
	want := "KB\x01\x00" + "\x00\xC0\xFF\xEE" + "\x00\x07" + "\x00\x00\x00\x0b" + "\x00\x00\x01\x00\x00\x00\x00\x00" +
		"\xff\xff\xff\xff\xff\xff\xff\xfb" + "\x7f\xff\xff\xff\xff\xff\xff\xff" + "\x00\x00"
	if got := string(value[:atChecksum]); got != want {
		t.Errorf("the stamp is\n%q, want\n%q", got, want)
	}
	sum := crc32.Checksum([]byte("\x00"+want), crc32.MakeTable(crc32.Castagnoli))
	if got := binary.BigEndian.Uint32(value[atChecksum:]); got != sum {
		t.Errorf("the checksum is %08x, want %08x", got, sum)
	}
}

func TestStampIsReadBack(t *testing.T) {
	c := newCorpus(t, "mixed", Sizes{"uniform", []int{StampSize, 300}}, true)
	rapid.Check(t, func(t *rapid.T) {
		want := Stamp{
			Run: rapid.Uint32().Draw(t, "run"), Producer: rapid.Uint16().Draw(t, "producer"),
			Partition: rapid.Int32().Draw(t, "partition"), Sequence: rapid.Uint64().Draw(t, "sequence"),
			Intended: rapid.Int64().Draw(t, "intended"), Actual: rapid.Int64().Draw(t, "actual"),
		}
		value := c.Value(nil, rapid.Uint64().Draw(t, "number"), &want)
		if got, check := ReadStamp(value); got != want || check != Intact {
			t.Fatalf("read %v, %s; want %v, intact", got, check, want)
		}
	})
}

func TestFlippedBitIsCorrupt(t *testing.T) {
	for _, class := range []string{"zeros", "json", "random"} {
		value := newCorpus(t, class, fixed(100), true).Value(nil, 3, &someStamp)
		for bit := range 8 * len(value) {
			value[bit/8] ^= 1 << (bit % 8)
			if _, check := ReadStamp(value); check != Corrupt {
				t.Errorf("%s: bit %d flipped: %s", class, bit, check)
			}
			value[bit/8] ^= 1 << (bit % 8)
		}
	}
}

// CRC-32C finds up to 32 changed consecutive bits.
func TestBurstOfDamageIsCorrupt(t *testing.T) {
	value := newCorpus(t, "text", fixed(2000), true).Value(nil, 3, &someStamp)
	rapid.Check(t, func(t *rapid.T) {
		damaged := append([]byte{}, value...)
		at := rapid.IntRange(0, len(value)-4).Draw(t, "at")
		change := rapid.Uint32Min(1).Draw(t, "change")
		binary.BigEndian.PutUint32(damaged[at:], binary.BigEndian.Uint32(damaged[at:])^change)
		if _, check := ReadStamp(damaged); check == Intact || check == Foreign && at >= atRun {
			t.Fatalf("bytes %d to %d changed by %08x: %s", at, at+3, change, check)
		}
	})
}

func TestWholeHeadOverwrittenIsCorrupt(t *testing.T) {
	value := newCorpus(t, "text", fixed(2000), true).Value(nil, 3, &someStamp)
	copy(value, "\xde\xad\xbe\xef")
	if _, check := ReadStamp(value); check != Corrupt {
		t.Errorf("the head overwritten: %s", check)
	}
}

func TestDamagedHeadAndBodyIsCorrupt(t *testing.T) {
	value := newCorpus(t, "text", fixed(2000), true).Value(nil, 3, &someStamp)
	value[0] ^= 0x81
	value[150] ^= 1
	for _, size := range []int{len(value), StampSize, 10} {
		if _, check := ReadStamp(value[:size]); check != Corrupt {
			t.Errorf("%d bytes: %s", size, check)
		}
	}
}

func TestTornRecordIsCorrupt(t *testing.T) {
	for _, class := range []string{"zeros", "text"} {
		value := newCorpus(t, class, fixed(1000), true).Value(nil, 3, &someStamp)
		for size := range len(value) {
			want := Corrupt
			if size < atRun {
				want = Foreign
			}
			if _, check := ReadStamp(value[:size]); check != want {
				t.Errorf("%s: the first %d bytes are %s, want %s", class, size, check, want)
			}
		}
		if _, check := ReadStamp(append(value, 0)); check != Corrupt {
			t.Errorf("%s: a byte more is %s", class, check)
		}
	}
}

func TestForeign(t *testing.T) {
	another := newCorpus(t, "text", fixed(1000), true).Value(nil, 3, &someStamp)
	another[2] = stampVersion + 1
	sum := crc32.Checksum(another[StampSize:], castagnoli)
	binary.BigEndian.PutUint32(another[atChecksum:], crc32.Update(sum, castagnoli, another[:atChecksum]))
	unstamped := newCorpus(t, "json", fixed(1000), false)
	for name, value := range map[string][]byte{
		"nothing":         nil,
		"short":           []byte("hello"),
		"zeros":           make([]byte, 100),
		"json":            unstamped.Value(nil, 1, nil),
		"another version": another,
	} {
		if _, check := ReadStamp(value); check != Foreign {
			t.Errorf("%s is %s", name, check)
		}
	}
}

// A stamp in a header checks the value, whatever its size.
func TestHeaderIsReadBack(t *testing.T) {
	for _, size := range []int{1, 16, StampSize, 300} {
		c := newCorpus(t, "json", fixed(size), false)
		for number := range uint64(5) {
			var header Header
			c.PutHeader(&header, number, &someStamp)
			value := c.Value(nil, number, nil)
			if got, check := ReadRecord(&header, value); got != someStamp || check != Intact || len(value) != size {
				t.Fatalf("%d bytes: read %v, %s from a value of %d bytes", size, got, check, len(value))
			}
			for _, part := range [][]byte{header[:], value} {
				for bit := range 8 * len(part) {
					part[bit/8] ^= 1 << (bit % 8)
					if _, check := ReadRecord(&header, value); check != Corrupt {
						t.Errorf("%d bytes: bit %d flipped: %s", size, bit, check)
					}
					part[bit/8] ^= 1 << (bit % 8)
				}
			}
			if _, check := ReadRecord(&header, value[:size-1]); check != Corrupt {
				t.Errorf("%d bytes, cut short: %s", size, check)
			}
		}
	}
}

func TestHeaderOf(t *testing.T) {
	if HeaderOf(HeaderName, make([]byte, StampSize)) == nil {
		t.Error("a stamp is not read as one")
	}
	if HeaderOf("trace-id", make([]byte, StampSize)) != nil || HeaderOf(HeaderName, make([]byte, StampSize-1)) != nil {
		t.Error("another header is read as a stamp")
	}
}

func TestCheckWords(t *testing.T) {
	if Intact.String() != "intact" || Corrupt.String() != "corrupt" || Foreign.String() != "foreign" {
		t.Error("the words of checks have changed")
	}
}

func FuzzReadStamp(f *testing.F) {
	value := newCorpus(f, "logline", fixed(100), true).Value(nil, 1, &someStamp)
	f.Add(value)
	f.Add(value[:StampSize])
	f.Add(value[:10])
	f.Add([]byte("{}"))
	f.Fuzz(func(t *testing.T, value []byte) {
		stamp, check := ReadStamp(value)
		if check != Intact {
			return
		}
		again := append([]byte{}, value...)
		stamp.put(again, crc32.Checksum(value[StampSize:], castagnoli))
		if reserved := binary.BigEndian.Uint16(value[atReserved:]); string(again) != string(value) && reserved == 0 {
			t.Fatalf("%x is read as %v, which is written %x", value, stamp, again)
		}
	})
}
