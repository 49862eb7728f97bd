package confine

import "testing"

func TestInWords(t *testing.T) {
	for bytes, want := range map[int64]string{64 << 20: "64 MiB", 1 << 30: "1 GiB", 100e6: "100 MB", 12345: "12345 B"} {
		if got := inWords(bytes); got != want {
			t.Errorf("%d bytes are %q, want %q", bytes, got, want)
		}
	}
}
