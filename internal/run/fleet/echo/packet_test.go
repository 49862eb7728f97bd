package echo

import (
	"bytes"
	"testing"
)

func TestDamageIsRefused(t *testing.T) {
	p := packet{kind: answer, to: 2, asker: 3, sequence: 4, heardNs: -5, answeredNs: 6, slewNs: -7}
	for _, key := range [][]byte{nil, []byte("key")} {
		sealed := p.encode(key)
		if got, sound := decode(sealed, key); !sound || got != p {
			t.Errorf("read back is %+v (%v)", got, sound)
		}
		for bit := range 8 * packetSize {
			damaged := bytes.Clone(sealed)
			damaged[bit/8] ^= 1 << (bit % 8)
			if got, sound := decode(damaged, key); sound {
				t.Errorf("with bit %d changed it is %+v", bit, got)
			}
		}
	}
	later := p.encode([]byte("key"))
	later[2]++ // rightly sealed
	sealed := seal([]byte("key"), later[:atSeal])
	copy(later[atSeal:], sealed[:])
	if got, sound := decode(later, []byte("key")); sound {
		t.Errorf("another version is read as %+v", got)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(packet{kind: question, to: 2, asker: 3, sequence: 4}.encode(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		if p, sound := decode(b, nil); sound && !bytes.Equal(p.encode(nil), b) {
			t.Errorf("%x is read as %+v", b, p)
		}
	})
}
