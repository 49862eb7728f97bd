//go:build proof

package main

import (
	"bytes"
	"debug/buildinfo"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestImageOfThisTree(t *testing.T) {
	t.Chdir("../../..")
	var images [2][]byte
	for i := range images {
		file := filepath.Join(t.TempDir(), "image.tar")
		if err := run(t.Context(), []string{"-o", file, "-version", "v1"}, t.Output()); err != nil {
			t.Fatal(err)
		}
		var err error
		if images[i], err = os.ReadFile(file); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(images[0], images[1]) {
		t.Error("two images of one tree differ")
	}
	_, files := extract(t, images[0])
	found := 0
	for name, blob := range files {
		if !bytes.HasPrefix(blob, []byte("kafka-bench\x00")) { // a layer, which begins with the binary
			continue
		}
		found++
		_, layer := extract(t, blob)
		info, err := buildinfo.Read(bytes.NewReader(layer["kafka-bench"]))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if text := info.String(); !strings.Contains(text, "golang.org/x/crypto/x509roots/fallback") || !strings.Contains(text, "CGO_ENABLED=0") {
			t.Errorf("%s: want root certificates and no cgo in\n%s", name, text)
		}
	}
	if found != len(architectures) {
		t.Errorf("%d layers with a binary, want %d", found, len(architectures))
	}
}
