package payload

import (
	"bytes"
	"compress/flate"
	"encoding/json"
	"hash/crc32"
	"math/rand/v2"
	"strings"
	"testing"
)

// The bytes of a class and seed never change, so that figures stay comparable.
func TestBytesAreFixed(t *testing.T) {
	for class, want := range map[string]uint32{
		"random": 0xe1bfce7c, "zeros": 0x2d253f46, "text": 0x222b8502, "json": 0x661d5165, "logline": 0x4c4afaeb, "mixed": 0x7e321947,
	} {
		c := newCorpus(t, class, fixed(500), true)
		if got := crc32.ChecksumIEEE(c.bodies); got != want {
			t.Errorf("%s: the checksum of the corpus is %#08x, was %#08x; if the change is meant, say so in the change log", class, got, want)
		}
	}
}

func TestValueHasItsSize(t *testing.T) {
	for _, class := range Classes {
		for _, stamped := range []bool{false, true} {
			sizes := Sizes{"uniform", []int{StampSize, 2000}}
			c := newCorpus(t, class, sizes, stamped)
			dst := make([]byte, 0, sizes.Max())
			seen := make(map[int]bool)
			for number := range uint64(c.Len()) {
				value := c.Value(dst, number, &someStamp)
				if len(value) < sizes.Min() || len(value) > sizes.Max() || &value[0] != &dst[:1][0] {
					t.Fatalf("%s: record %d has %d bytes", class, number, len(value))
				}
				seen[len(value)] = true
			}
			if len(seen) < 1900 {
				t.Errorf("%s: only %d of 1957 sizes occur", class, len(seen))
			}
		}
	}
}

func TestValueIsAFunctionOfClassSeedAndSequence(t *testing.T) {
	for _, class := range Classes {
		a, b := newCorpus(t, class, fixed(3000), true), newCorpus(t, class, fixed(3000), true)
		other, err := NewCorpus(Spec{Class: class, Seed: 43, Sizes: fixed(3000), Stamped: true})
		if err != nil {
			t.Fatal(err)
		}
		dirty := bytes.Repeat([]byte{0xAA}, 3000)
		for _, number := range []uint64{0, 1, 99, 1 << 40} {
			value := a.Value(nil, number, &someStamp)
			if !bytes.Equal(value, b.Value(dirty[:0], number, &someStamp)) {
				t.Errorf("%s: record %d differs from one corpus to the next", class, number)
			}
			if !bytes.Equal(value, a.Value(nil, number+uint64(a.Len()), &someStamp)) {
				t.Errorf("%s: record %d does not come again after %d", class, number, a.Len())
			}
			if class != "zeros" && bytes.Equal(value, other.Value(nil, number, &someStamp)) {
				t.Errorf("%s: record %d is the same with another seed", class, number)
			}
		}
	}
}

func TestCorpusSize(t *testing.T) {
	for _, size := range []int{1, 10, StampSize, 100, 512, 5000, 1 << 20, 3 << 20, 12 << 20, 40 << 20} {
		for _, stamped := range []bool{false, true} {
			if stamped && size < StampSize {
				continue
			}
			c := newCorpus(t, "zeros", fixed(size), stamped)
			if batched := c.Len() * (size + recordOverheadBytes); batched < 1<<20 {
				t.Errorf("size %d: %d bodies are less than a batch", size, c.Len())
			}
			if c.Len() > 1 && !isPrime(c.Len()) {
				t.Errorf("size %d: the number of bodies, %d, is not prime", size, c.Len())
			}
			if c.Bytes() > corpusMaxBytes && c.Len() > 1 {
				t.Errorf("size %d: the corpus has %d bytes", size, c.Bytes())
			}
			if got := c.MeanBytes(); got != float64(size) {
				t.Errorf("size %d: the mean is %v", size, got)
			}
		}
	}
}

func TestBodiesDiffer(t *testing.T) {
	for _, class := range []string{"random", "text", "json", "logline", "mixed"} {
		c := newCorpus(t, class, fixed(StampSize+56), true)
		seen := make(map[string]bool)
		for number := range uint64(c.Len()) {
			seen[string(c.Value(nil, number, nil)[StampSize:])] = true
		}
		if share := float64(len(seen)) / float64(c.Len()); share < 0.999 {
			t.Errorf("%s: of %d bodies only %.2f %% differ", class, c.Len(), 100*share)
		}
	}
}

func TestJSONIsValid(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for size := 2; size < 1500; size++ {
		for number := range 5 {
			body := appendJSON([]byte("in front"), len("in front")+size, random, number)[len("in front"):]
			if len(body) != size || !json.Valid(body) {
				t.Fatalf("%d bytes: %s", size, body)
			}
		}
	}
}

// Batches of 64 KiB compress about as well as real data.
func TestCompressionRatio(t *testing.T) {
	for class, want := range map[string][2]float64{
		"random": {0.98, 1.01}, "zeros": {200, 2000}, "text": {2.2, 3.5}, "json": {2.5, 5}, "logline": {3, 8}, "mixed": {1.8, 4},
	} {
		c := newCorpus(t, class, fixed(512), false)
		var batch []byte
		for number := range uint64(128) {
			batch = append(batch, c.Value(nil, number, nil)...)
		}
		var out bytes.Buffer
		w, err := flate.NewWriter(&out, flate.DefaultCompression)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(batch); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if ratio := float64(len(batch)) / float64(out.Len()); ratio < want[0] || ratio > want[1] {
			t.Errorf("%s: the ratio is %.2f, want %v to %v", class, ratio, want[0], want[1])
		}
	}
}

func TestStampOfUnstampedIsIgnored(t *testing.T) {
	c := newCorpus(t, "text", fixed(1000), false)
	if got := c.Value(nil, 1, &someStamp); !bytes.Equal(got, c.Value(nil, 1, nil)) {
		t.Errorf("the stamp was written into %q", got)
	}
	stamped := newCorpus(t, "text", fixed(1000), true)
	if stamp, check := ReadStamp(stamped.Value(nil, 1, nil)); stamp != (Stamp{}) || check != Intact {
		t.Errorf("without a stamp: %v, %s", stamp, check)
	}
}

func TestCorpusErrors(t *testing.T) {
	for want, spec := range map[string]Spec{
		`class "xml" is not known; choose one of random`: {Class: "xml", Sizes: fixed(100)},
		"no room for a stamp; give at least 44":          {Class: "text", Sizes: fixed(43), Stamped: true},
		`size distribution "" is not known`:              {Class: "text"},
		"size distribution fixed has 0 values; give 1":   {Class: "text", Sizes: Sizes{"fixed", nil}},
		"size distribution list has 0 values; give 1":    {Class: "text", Sizes: Sizes{"list", nil}},
		"smallest size, 5, is above the largest, 4":      {Class: "text", Sizes: Sizes{"uniform", []int{5, 4}}},
		"normal sizes with mean -5":                      {Class: "text", Sizes: Sizes{"normal", []int{-5, 4}}},
		"a record of 0 bytes; give at least":             {Class: "text", Sizes: fixed(0)},
		"a record of 67108865 bytes; give at most":       {Class: "text", Sizes: fixed(MaxSize + 1)},
	} {
		if _, err := NewCorpus(spec); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v does not say %q", err, want)
		}
	}
}

func TestSizes(t *testing.T) {
	for _, c := range []struct {
		sizes    Sizes
		min, max int
		mean     float64
	}{
		{fixed(100), 100, 100, 100},
		{Sizes{"uniform", []int{100, 200}}, 100, 200, 150},
		{Sizes{"normal", []int{1000, 200}}, 200, 1800, 1000},
		{Sizes{"normal", []int{100, 20}}, 20, 180, 100},
		{Sizes{"normal", []int{100, 50}}, 1, 300, 100},
		{Sizes{"list", []int{64, 64, 4096}}, 64, 4096, 4224.0 / 3},
		{Sizes{}, 0, 0, 0},
	} {
		if c.sizes.Min() != c.min || c.sizes.Max() != c.max {
			t.Errorf("%v: from %d to %d; want %d to %d", c.sizes, c.sizes.Min(), c.sizes.Max(), c.min, c.max)
		}
		if c.mean == 0 {
			continue
		}
		corpus := newCorpus(t, "zeros", c.sizes, false)
		if got := corpus.MeanBytes(); got < c.mean*0.99-1 || got > c.mean*1.01+1 {
			t.Errorf("%v: the mean of the corpus is %v", c.sizes, got)
		}
	}
}
