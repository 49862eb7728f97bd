package payload

import (
	"fmt"
	"testing"
)

func BenchmarkValue(b *testing.B) {
	for _, size := range []int{100, 512} {
		b.Run(fmt.Sprintf("%dB", size), func(b *testing.B) {
			c := newCorpus(b, "json", fixed(size), true)
			dst := make([]byte, 0, size)
			stamp := someStamp
			b.ReportAllocs()
			for b.Loop() {
				stamp.Sequence++
				dst = c.Value(dst, stamp.Sequence, &stamp)
			}
		})
	}
}

func BenchmarkHeader(b *testing.B) {
	for _, size := range []int{16, 100, 512} {
		c := newCorpus(b, "json", fixed(size), false)
		var header Header
		value, stamp := make([]byte, 0, size), someStamp
		b.Run(fmt.Sprintf("write/%dB", size), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				stamp.Sequence++
				value = c.Value(value, stamp.Sequence, nil)
				c.PutHeader(&header, stamp.Sequence, &stamp)
			}
		})
		b.Run(fmt.Sprintf("read/%dB", size), func(b *testing.B) {
			value = c.Value(value, 1, nil)
			c.PutHeader(&header, 1, &stamp)
			b.ReportAllocs()
			for b.Loop() {
				if _, check := ReadRecord(&header, value); check != Intact {
					b.Fatal(check)
				}
			}
		})
	}
}

func BenchmarkReadStamp(b *testing.B) {
	for _, size := range []int{100, 512} {
		b.Run(fmt.Sprintf("%dB", size), func(b *testing.B) {
			value := newCorpus(b, "json", fixed(size), true).Value(nil, 1, &someStamp)
			b.ReportAllocs()
			for b.Loop() {
				if _, check := ReadStamp(value); check != Intact {
					b.Fatal(check)
				}
			}
		})
	}
}

func BenchmarkKey(b *testing.B) {
	for _, distribution := range []string{"sequential", "uniform", "zipf"} {
		b.Run(distribution, func(b *testing.B) {
			k := newKeys(b, KeySpec{distribution, 10_000, 1.1, 1})
			b.ReportAllocs()
			var sequence uint64
			for b.Loop() {
				sequence++
				Partition(k.Key(sequence), 12)
			}
		})
	}
}

func BenchmarkNewCorpus(b *testing.B) {
	for _, class := range Classes {
		b.Run(class, func(b *testing.B) {
			for b.Loop() {
				newCorpus(b, class, fixed(100), true)
			}
		})
	}
}
