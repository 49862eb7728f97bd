package echo

import (
	"testing"
	"testing/fstest"
)

func TestBoot(t *testing.T) {
	files := func(id, offsets string) fstest.MapFS {
		fs := fstest.MapFS{"sys/kernel/random/boot_id": {Data: []byte(id + "\n")}}
		if offsets != "" {
			fs["self/timens_offsets"] = &fstest.MapFile{Data: []byte(offsets)}
		}
		return fs
	}
	const moved = "monotonic         -2  500000000\nboottime           7          0\n"
	for _, c := range []struct {
		own, peer fstest.MapFS
		offset    int64
		shared    bool
	}{
		{files("x", ""), files("x", ""), 0, true},
		{files("x", "monotonic 0 0\n"), files("x", moved), -15e8, true},
		{files("x", moved), files("x", ""), 15e8, true},
		{files("x", ""), files("y", ""), 0, false},
		{fstest.MapFS{}, fstest.MapFS{}, 0, false},
	} {
		own, err := readBoot(c.own)
		peer, failed := readBoot(c.peer)
		if offset, shared := own.Offset(peer); err != nil || failed != nil || offset != c.offset || shared != c.shared {
			t.Errorf("%+v and %+v: %d, %v; errors %v, %v", own, peer, offset, shared, err, failed)
		}
	}
	for _, wrong := range []string{"boottime 0 0\n", "monotonic x 0\n"} {
		if b, err := readBoot(files("x", wrong)); err == nil {
			t.Errorf("%q is read as %+v", wrong, b)
		}
	}
}
