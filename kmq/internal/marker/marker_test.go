package marker_test

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"pgregory.net/rapid"

	"kafkabench.example/kafka-bench/kmq/internal/marker"
)

// Topics hold older markers, so the bytes must not change.
func TestBytes(t *testing.T) {
	const key = "\x00\x00\x00\x07\x00\x00\x00\x00\x00\x01\x00\x02"
	for _, c := range []struct {
		m     marker.Marker
		key   string
		value string
	}{
		{marker.Marker{Partition: 7, Offset: 0x10002, Type: marker.Start, Count: 300, Duration: 30 * time.Second, Holder: 5, Epoch: -1}, key, "\x10\x01\xac\x02\xb0\xea\x01\x05"},
		{marker.Marker{Partition: 7, Offset: 0x10002, Type: marker.End, Count: 1, Epoch: -1}, key, "\x10\x02\x01\x00"},
		{marker.Marker{Partition: 7, Offset: 0x10002, Type: marker.End, Count: 1, Reason: marker.Missing, Epoch: -1}, key, "\x10\x02\x01\x03"},
		{marker.Marker{Partition: 7, Offset: 0x10002, Type: marker.Extend, Count: 1, Duration: time.Millisecond, Holder: 1<<32 - 1}, key, "\x10\x03\x01\x01\xff\xff\xff\xff\x0f"},
		{marker.Marker{Partition: 7, Offset: 0x10002, Type: marker.Release, Count: 2, Undelivered: true}, key, "\x10\x04\x02\x00\x00\x01"},
		{marker.Marker{Partition: 7, Offset: 0x10002, Type: marker.Start, Count: 1, Holder: 5, Group: 0x01020304, Epoch: 7}, key, "\x12\x01\x01\x00\x05\x01\x02\x03\x04\x00\x00\x00\x07"},
		{marker.Marker{Partition: 7, Offset: 0x10002, Type: marker.End, Count: 1, Group: 1, Epoch: -1}, key, "\x12\x02\x01\x00\x00\x00\x00\x01\xff\xff\xff\xff"},
		{marker.Marker{Partition: 7, Offset: 0x10002, Type: marker.Release, Count: 2, Group: 1}, key, "\x12\x04\x02\x00\x00\x00\x00\x00\x00\x01"},
		{marker.Marker{Partition: -8, Offset: 0x10002, Type: marker.End, Count: 1, Group: 1, Epoch: 7}, "\xff\xff\xff\xf8" + key[4:], "\x12\x02\x01\x00\x00\x00\x00\x01\x00\x00\x00\x07"},
		{marker.Marker{Partition: 7, Offset: -1, Type: marker.Tick}, "\x00\x00\x00\x07\xff\xff\xff\xff\xff\xff\xff\xff", "\x10\x05"},
	} {
		_, k, v := marker.Append(nil, c.m)
		if string(k) != c.key || string(v) != c.value {
			t.Errorf("%v: key % x, value % x; want % x, % x", c.m, k, v, c.key, c.value)
		}
		got, err := marker.Parse([]byte(c.key), []byte(c.value))
		if err != nil || got != c.m {
			t.Errorf("% x: %+v, %v", c.value, got, err)
		}
	}
}

// Markers of version 1.1 have a group and no epoch.
func TestEarlierMinorVersion(t *testing.T) {
	const key = "\x00\x00\x00\x07\x00\x00\x00\x00\x00\x01\x00\x02"
	for value, want := range map[string]marker.Marker{
		"\x11\x01\x01\x00\x05\x01\x02\x03\x04": {Partition: 7, Offset: 0x10002, Type: marker.Start, Count: 1, Holder: 5, Group: 0x01020304, Epoch: -1},
		"\x11\x02\x01\x00\x00\x00\x00\x01":     {Partition: 7, Offset: 0x10002, Type: marker.End, Count: 1, Group: 1, Epoch: -1},
	} {
		if got, err := marker.Parse([]byte(key), []byte(value)); err != nil || got != want {
			t.Errorf("% x: %+v, %v", value, got, err)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	const key = "\x00\x00\x00\x07\x00\x00\x00\x00\x00\x01\x00\x02"
	for _, c := range []struct {
		name, key, value string
		err              error
	}{
		{"a short key", key[1:], "\x10\x02\x01\x00", marker.ErrMalformed},
		{"a long key", key + "x", "\x10\x02\x01\x00", marker.ErrMalformed},
		{"no value", key, "", marker.ErrMalformed},
		{"a version alone", key, "\x10", marker.ErrMalformed},
		{"a later version", key, "\x20\x02\x01\x00", marker.ErrVersion},
		{"an earlier version", key, "\x00\x02\x01\x00", marker.ErrVersion},
		{"a later type", key, "\x10\x06\x01\x00", marker.ErrVersion},
		{"a later type of a later minor version", key, "\x11\x06\x01\x00", marker.ErrVersion},
		{"a field that is missing", key, "\x10\x02\x01", marker.ErrMalformed},
		{"a byte too many", key, "\x10\x02\x01\x00\x00", marker.ErrMalformed},
		{"no records", key, "\x10\x02\x00\x00", marker.ErrMalformed},
		{"too many records", key, "\x10\x02\x81\x80\x40\x00", marker.ErrMalformed},
		{"a number in a long form", key, "\x10\x02\x81\x00\x00", marker.ErrMalformed},
		{"an unknown reason", key, "\x10\x02\x01\x04", marker.ErrMalformed},
		{"an unknown flag", key, "\x10\x04\x01\x00\x00\x02", marker.ErrMalformed},
		{"a negative offset", "\x00\x00\x00\x07\x80\x00\x00\x00\x00\x01\x00\x02", "\x10\x02\x01\x00", marker.ErrMalformed},
		{"a tick of the retry topic", "\xff\xff\xff\xf8\xff\xff\xff\xff\xff\xff\xff\xff", "\x10\x05", marker.ErrMalformed},
		{"an offset that overflows", "\x00\x00\x00\x07\x7f\xff\xff\xff\xff\xff\xff\xff", "\x10\x02\x01\x00", marker.ErrMalformed},
		{"a group that is cut off", key, "\x11\x02\x01\x00\x00\x00\x01", marker.ErrMalformed},
		{"no group where there must be one", key, "\x11\x02\x01\x00\x00\x00\x00\x00", marker.ErrMalformed},
		{"a tick of a record", key, "\x10\x05", marker.ErrMalformed},
	} {
		if m, err := marker.Parse([]byte(c.key), []byte(c.value)); !errors.Is(err, c.err) {
			t.Errorf("%s: %+v, %v; want %v", c.name, m, err, c.err)
		}
	}
}

func TestLaterMinorVersion(t *testing.T) {
	m := marker.Marker{Partition: 1, Offset: 2, Type: marker.Start, Count: 3, Duration: time.Second, Holder: 9, Group: 7, Epoch: 1}
	_, key, value := marker.Append(nil, m)
	later := append(bytes.Clone(value), "a further field"...)
	later[0]++
	if got, err := marker.Parse(key, later); err != nil || got != m {
		t.Errorf("%+v, %v", got, err)
	}
}

func drawn(t *rapid.T) marker.Marker {
	m := marker.Marker{
		Partition: rapid.Int32().Draw(t, "partition"),
		Offset:    rapid.Int64Range(0, 1<<62).Draw(t, "offset"),
		Type:      rapid.SampledFrom([]marker.Type{marker.Start, marker.End, marker.Extend, marker.Release, marker.Tick}).Draw(t, "type"),
	}
	if m.Type == marker.Tick {
		m.Partition, m.Offset = max(m.Partition, 0), -1
		return m
	}
	m.Group = rapid.Uint32().Draw(t, "group")
	m.Count = rapid.Int32Range(1, marker.MaxCount).Draw(t, "count")
	if m.Type == marker.Start || m.Type == marker.End {
		m.Epoch = -1
		if m.Group != 0 {
			m.Epoch = rapid.Int32Min(-1).Draw(t, "epoch")
		}
	}
	if m.Type == marker.End {
		m.Reason = marker.Reason(rapid.IntRange(0, int(marker.Missing)).Draw(t, "reason"))
		return m
	}
	m.Duration = time.Duration(rapid.Int64Range(0, int64(marker.MaxDuration/time.Millisecond)).Draw(t, "ms")) * time.Millisecond
	m.Holder = rapid.Uint32().Draw(t, "holder")
	m.Undelivered = m.Type == marker.Release && rapid.Bool().Draw(t, "undelivered")
	return m
}

func TestOf(t *testing.T) {
	for group, want := range map[string]uint32{"": 0x811c9dc5, "a": 0xe40c292c, "foobar": 0xbf9cf968} { // from the authors of the hash
		if got := marker.Of(group); got != want {
			t.Errorf("%q: %#x, want %#x", group, got, want)
		}
	}
}

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawn(t)
		before := rapid.SliceOf(rapid.Byte()).Draw(t, "before")
		all, key, value := marker.Append(bytes.Clone(before), m)
		if len(all) != len(before)+len(key)+len(value) || len(key)+len(value) > marker.Size || !bytes.HasPrefix(all, before) {
			t.Fatalf("%d + %d + %d bytes of %d", len(before), len(key), len(value), len(all))
		}
		got, err := marker.Parse(key, value)
		if err != nil || got != m {
			t.Fatalf("%+v, %v", got, err)
		}
	})
}

// A marker has only one encoding.
func FuzzParse(f *testing.F) {
	for _, m := range []marker.Marker{
		{Partition: 1, Offset: 2, Type: marker.Start, Count: 300, Duration: time.Minute, Holder: 4},
		{Partition: 1, Offset: 2, Type: marker.End, Count: 3, Reason: marker.Copied},
		{Partition: 1, Offset: 2, Type: marker.Release, Count: 3, Undelivered: true},
		{Partition: 1, Offset: -1, Type: marker.Tick},
	} {
		_, key, value := marker.Append(nil, m)
		f.Add(key, value)
	}
	f.Fuzz(func(t *testing.T, key, value []byte) {
		m, err := marker.Parse(key, value)
		if err != nil {
			if !errors.Is(err, marker.ErrVersion) && !errors.Is(err, marker.ErrMalformed) {
				t.Fatalf("an error of neither kind: %v", err)
			}
			return
		}
		_, k, v := marker.Append(nil, m)
		if !bytes.Equal(k, key) {
			t.Fatalf("key % x, written % x", key, k)
		}
		switch {
		case value[0] == v[0] && !bytes.Equal(v, value):
			t.Fatalf("value % x, written % x", value, v)
		case value[0] > v[0] && !bytes.HasPrefix(value[1:], v[1:]):
			t.Fatalf("value % x of a later minor version, written % x", value, v)
		case value[0] < v[0] && !bytes.HasPrefix(v[1:], value[1:]):
			t.Fatalf("value % x of an earlier minor version, written % x", value, v)
		}
	})
}

func BenchmarkAppend(b *testing.B) {
	m := marker.Marker{Partition: 7, Offset: 123456, Type: marker.Start, Count: 300, Duration: 30 * time.Second, Holder: 1 << 30}
	buf := make([]byte, 0, marker.Size)
	b.ReportAllocs()
	for b.Loop() {
		marker.Append(buf, m)
	}
}

func BenchmarkParse(b *testing.B) {
	_, key, value := marker.Append(nil, marker.Marker{Partition: 7, Offset: 123456, Type: marker.Start, Count: 300, Duration: 30 * time.Second, Holder: 1 << 30})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := marker.Parse(key, value); err != nil {
			b.Fatal(err)
		}
	}
}

// Groups can be updated one by one.
func TestGroupOfALaterVersion(t *testing.T) {
	const key = "\x00\x00\x00\x07\x00\x00\x00\x00\x00\x01\x00\x02"
	for value, want := range map[string]uint32{
		"\x20\x01\x01\x02\x03\x04":           0x01020304,
		"\x20\x05\x01\x02\x03\x04":           0x01020304,
		"\xf3\x99\x01\x02\x03\x04 and so on": 0x01020304,
		"\x20\x01\x01\x02\x03":               0,
		"\x00\x01\x01\x02\x03\x04":           0,
		"\x11\x06\x01\x02\x03\x04":           0,
	} {
		if m, err := marker.Parse([]byte(key), []byte(value)); !errors.Is(err, marker.ErrVersion) || m.Group != want {
			t.Errorf("% x: group %#x, want %#x; %v", value, m.Group, want, err)
		}
	}
}
