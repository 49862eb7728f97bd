package foreign_test

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/foreign"
)

func FuzzParse(f *testing.F) {
	for name := range samples {
		content, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(0, utf16Of(binary.LittleEndian, "\ufeff", "> \x1b[1m"+string(content)))
		f.Add(0, append(slices.Clone(content), content...))
		for format := range foreign.Formats() {
			f.Add(format, content)
			f.Add(format, content[:len(content)/2])
		}
	}
	f.Add(7, []byte("Tag=a,0.0,1.0,1.0,"+hdr(f, 1, 1000, 3, 5)+"\n"))
	f.Add(7, []byte("Tag=a-abc123_poll_time,0.0,1.0,1.0,"+hdr(f, 1, 1000, 3, 5)+"\n#\nTag=b-abc123_poll_time,0.0,1.0,1.0,"+hdr(f, 1, 1000, 3, 5)+"\n"))
	f.Fuzz(func(t *testing.T, format int, content []byte) {
		formats := foreign.Formats()
		all, err := foreign.ParseAll("x", content, foreign.Options{Format: formats[uint(format)%uint(len(formats))], Modified: time.Unix(1e9, 0), HlogUnit: time.Microsecond})
		if err != nil {
			if text := err.Error(); !strings.HasPrefix(text, "x:") || steers(text) {
				t.Errorf("the error does not name the file, or steers a terminal: %q", text)
			}
			return
		}
		for _, r := range all {
			if r.Run.Verdict.Status == result.Valid {
				t.Error("an imported run is valid")
			}
			if shown := r.Run.Run.Name + r.Run.Run.Driver.Name + strings.Join(append(r.Run.Verdict.Warnings, r.Run.Verdict.Reasons...), "\n"); steers(shown) {
				t.Errorf("the run steers a terminal: %q", shown)
			}
			if _, err := r.Save(t.TempDir()); err != nil {
				t.Errorf("it was read, and cannot be saved: %v", err)
			}
		}
	})
}

func steers(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) && r != '\n' })
}

func TestTruncated(t *testing.T) {
	for name, format := range samples {
		content, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		for end := range content {
			r, err := foreign.Parse("x", content[:end], foreign.Options{Format: format, HlogUnit: time.Millisecond})
			if err == nil && r.Run.Load.Acked == 0 && r.Run.Delivery.Delivered == 0 && len(r.Run.Time) == 0 && r.Run.Verdict.Usable() {
				t.Fatalf("%s, %d bytes of it: a run of nothing", name, end)
			}
		}
	}
}
