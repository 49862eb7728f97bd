package foreign_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/result/foreign"
)

func FuzzParse(f *testing.F) {
	for name := range samples {
		content, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		for format := range foreign.Formats() {
			f.Add(format, content)
			f.Add(format, content[:len(content)/2])
		}
	}
	f.Add(5, []byte("Tag=a,0.0,1.0,1.0,"+hdr(f, 1, 1000, 3, 5)+"\n"))
	f.Add(5, []byte("Tag=a-abc123_poll_time,0.0,1.0,1.0,"+hdr(f, 1, 1000, 3, 5)+"\n#\nTag=b-abc123_poll_time,0.0,1.0,1.0,"+hdr(f, 1, 1000, 3, 5)+"\n"))
	f.Fuzz(func(t *testing.T, format int, content []byte) {
		formats := foreign.Formats()
		all, err := foreign.ParseAll("x", content, foreign.Options{Format: formats[uint(format)%uint(len(formats))], Modified: time.Unix(1e9, 0)})
		if err != nil {
			if !strings.HasPrefix(err.Error(), "x:") {
				t.Errorf("the error does not name the file: %v", err)
			}
			return
		}
		for _, r := range all {
			if _, err := r.Save(t.TempDir()); err != nil {
				t.Errorf("it was read, and cannot be saved: %v", err)
			}
		}
	})
}

func TestTruncated(t *testing.T) {
	for name, format := range samples {
		content, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		for end := range content {
			r, err := foreign.Parse("x", content[:end], foreign.Options{Format: format})
			if err == nil && r.Run.Load.Acked == 0 && r.Run.Delivery.Delivered == 0 && r.Run.Verdict.Status == "valid" {
				t.Fatalf("%s, %d bytes of it: a valid run of nothing", name, end)
			}
		}
	}
}
