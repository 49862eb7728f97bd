package control

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"
)

var (
	topicID = [16]byte{1, 2, 3}
	testKey = Key("a key that nobody may read")
)

func piece() Record {
	return Record{
		Kind: KindSnapshot, Run: 3, Agent: 7, Instance: 1 << 63, Sequence: 12, Number: 5, Piece: 1, Pieces: 2, Last: true,
		Body: []byte("some bytes"),
	}
}

func seal(t testing.TB, key Key, r Record) []byte {
	t.Helper()
	sealed, err := Seal(key, topicID, r)
	if err != nil {
		t.Fatal(err)
	}
	return sealed
}

func TestSealAndOpen(t *testing.T) {
	stop := Record{Kind: KindStop, Run: 1, Agent: Coordinator, Instance: 1, Sequence: 1, Pieces: 1, Body: []byte("{}")}
	for _, key := range []Key{nil, testKey} {
		for _, r := range []Record{piece(), stop} {
			sealed := seal(t, key, r)
			if got, err := Open(key, topicID, sealed); err != nil || !reflect.DeepEqual(got, r) {
				t.Errorf("opened %+v, %v; want %+v", got, err, r)
			}
			if bytes.Contains(sealed, testKey) {
				t.Error("the key is in a record")
			}
		}
	}
	if said := fmt.Sprintf("%v %+v %#v %s %x", testKey, struct{ K Key }{testKey}, testKey, testKey, testKey); said !=
		"(hidden) {K:(hidden)} (hidden) (hidden) (hidden)" {
		t.Errorf("a key is printed: %s", said)
	}
}

func TestFlippedBits(t *testing.T) {
	for _, key := range []Key{nil, testKey} {
		sealed := seal(t, key, piece())
		for bit := range 8 * len(sealed) {
			flipped := slices.Clone(sealed)
			flipped[bit/8] ^= 1 << (bit % 8)
			if r, err := Open(key, topicID, flipped); err == nil {
				t.Errorf("bit %d is flipped, and it opens: %+v", bit, r)
			}
		}
	}
}

func TestRefusedRecords(t *testing.T) {
	later := func(b []byte) []byte { b[4] = Version + 1; return b }
	for _, c := range []struct {
		name   string
		sealed []byte
		key    Key
		topic  [16]byte
		want   error
	}{
		{"of another topic", seal(t, testKey, piece()), testKey, [16]byte{9}, ErrDamaged},
		{"of another topic, without a key", seal(t, nil, piece()), nil, [16]byte{9}, ErrDamaged},
		{"of another key", seal(t, Key("other"), piece()), testKey, topicID, ErrOtherKey},
		{"with a key that is missing here", seal(t, testKey, piece()), nil, topicID, ErrNoKey},
		{"without the key", seal(t, nil, piece()), testKey, topicID, ErrUnsealed},
		{"with an empty key", seal(t, Key{}, piece()), testKey, topicID, ErrOtherKey},
		{"of a later version", later(seal(t, testKey, piece())), testKey, topicID, ErrVersion},
		{"cut short", seal(t, testKey, piece())[:bodyAt+20], testKey, topicID, ErrDamaged},
		{"of something else", []byte(`{"v": 1}`), testKey, topicID, ErrForeign},
		{"of nothing", nil, testKey, topicID, ErrForeign},
	} {
		if r, err := Open(c.key, c.topic, c.sealed); !errors.Is(err, c.want) || !reflect.DeepEqual(r, Record{}) {
			t.Errorf("a record %s: %+v, %v; want the error %v", c.name, r, err, c.want)
		}
	}
}

func TestMalformedRecords(t *testing.T) {
	for name, change := range map[string]func(*Record){
		"no kind":                 func(r *Record) { r.Kind = 0 },
		"an unknown kind":         func(r *Record) { r.Kind = KindEcho + 1 },
		"a coordinator's ready":   func(r *Record) { r.Agent = Coordinator },
		"an agent's plan":         func(r *Record) { *r = Record{Kind: KindPlan, Instance: 1, Sequence: 1, Pieces: 1} },
		"no instance":             func(r *Record) { r.Instance = 0 },
		"no sequence":             func(r *Record) { r.Sequence = 0 },
		"a piece after the last":  func(r *Record) { r.Piece = 2 },
		"too many pieces":         func(r *Record) { r.Pieces = MaxPieces + 1 },
		"too many bytes":          func(r *Record) { r.Body = make([]byte, MaxBody+1) },
		"a number of a pulse":     func(r *Record) { r.Kind, r.Piece, r.Pieces, r.Last = KindPulse, 0, 1, false },
		"an agent below all":      func(r *Record) { r.Agent = -2 },
		"a run that does not fit": func(r *Record) { r.Run = 1 << 31 },
	} {
		r := piece()
		change(&r)
		if _, err := Seal(testKey, topicID, r); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzOpen opens any bytes, unchanged and with a valid tag.
func FuzzOpen(f *testing.F) {
	f.Add(seal(f, nil, piece()), false)
	f.Add(seal(f, testKey, piece()), true)
	f.Fuzz(func(t *testing.T, b []byte, keyed bool) {
		var key Key
		if keyed {
			key = testKey
		}
		for _, sealed := range [][]byte{b, append(slices.Clone(b), tag(key, topicID, b)...)} {
			r, err := Open(key, topicID, sealed)
			if err != nil {
				continue
			}
			if again := seal(t, key, r); !bytes.Equal(again, sealed) {
				t.Errorf("opened %x, and sealed again %x", sealed, again)
			}
			_, _ = NewState(key, topicID).Apply(Entry{Record: sealed})
		}
	})
}
