package main

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"testing"
	"time"
)

var anyTime = time.Unix(1700000000, 0).UTC()

func build(t *testing.T, binaries map[string][]byte) []byte {
	t.Helper()
	image, err := layout("kafka-bench", "v1", anyTime, binaries)
	if err != nil {
		t.Fatal(err)
	}
	return image
}

func TestTwoImagesOfOneBinaryAreEqual(t *testing.T) {
	binaries := func(arm string) map[string][]byte {
		return map[string][]byte{"amd64": []byte("a program"), "arm64": []byte(arm)}
	}
	first := sha256.Sum256(build(t, binaries("another")))
	if second := sha256.Sum256(build(t, binaries("another"))); second != first {
		t.Errorf("two images of one file have the SHA-256 %x and %x", first, second)
	}
	if other := sha256.Sum256(build(t, binaries("a third"))); other == first {
		t.Error("an image of another file has the same SHA-256")
	}
}

func TestLayout(t *testing.T) {
	binaries := map[string][]byte{"amd64": []byte("a program"), "arm64": []byte("another program")}
	headers, files := extract(t, build(t, binaries))
	if string(files["oci-layout"]) != `{"imageLayoutVersion":"1.0.0"}` {
		t.Errorf("oci-layout is %s", files["oci-layout"])
	}
	if !slices.IsSortedFunc(headers, func(a, b tar.Header) int { return bytes.Compare([]byte(a.Name), []byte(b.Name)) }) {
		t.Error("the entries of the layout are not sorted")
	}
	open := func(d descriptor, into any) []byte {
		t.Helper()
		body := files["blobs/sha256/"+d.Digest[len("sha256:"):]]
		if sum := sha256.Sum256(body); "sha256:"+hex.EncodeToString(sum[:]) != d.Digest || len(body) != d.Size {
			t.Fatalf("blob %s has %d bytes, of the digest %x; the descriptor has %d bytes", d.Digest, len(body), sum, d.Size)
		}
		if into != nil {
			parse(t, body, into)
		}
		return body
	}

	var top, platforms index
	parse(t, files["index.json"], &top)
	if len(top.Manifests) != 1 || top.Manifests[0].Annotations[tagLabel] != "v1" {
		t.Fatalf("index.json has %+v, want one entry with the tag v1", top.Manifests)
	}
	open(top.Manifests[0], &platforms)
	for _, d := range platforms.Manifests {
		var m manifest
		var c config
		open(d, &m)
		open(m.Config, &c)
		if *d.Platform != c.platform || d.Platform.OS != "linux" {
			t.Errorf("the index names %+v, and the config %+v", *d.Platform, c.platform)
		}
		if c.Config.User != "65532:65532" || !slices.Equal(c.Config.Entrypoint, []string{"/kafka-bench"}) || !c.Created.Equal(anyTime) {
			t.Errorf("the config is %+v", c)
		}
		if len(m.Layers) != 1 || !slices.Equal(c.RootFS.DiffIDs, []string{m.Layers[0].Digest}) {
			t.Errorf("layers %+v, uncompressed %v: want one, whose digests agree", m.Layers, c.RootFS.DiffIDs)
		}
		inside, content := extract(t, open(m.Layers[0], nil))
		headers = append(headers, inside...)
		if len(inside) != 2 || inside[0].Name != "kafka-bench" || inside[0].Mode != 0o755 ||
			inside[1].Name != "tmp/" || inside[1].Mode != 0o1777 || inside[1].Typeflag != tar.TypeDir {
			t.Errorf("the layer has %+v", inside)
		}
		if !bytes.Equal(content["kafka-bench"], binaries[d.Platform.Architecture]) {
			t.Errorf("the binary for %s is %q", d.Platform.Architecture, content["kafka-bench"])
		}
		delete(binaries, d.Platform.Architecture)
	}
	if len(binaries) > 0 {
		t.Errorf("no image for %v", binaries)
	}
	for _, h := range headers {
		if !h.ModTime.Equal(anyTime) || h.Uid != 0 || h.Gid != 0 || h.Uname != "" || h.Gname != "" {
			t.Errorf("entry %+v: want time %v, owner 0", h, anyTime)
		}
	}
}

func TestEpoch(t *testing.T) {
	for text, want := range map[string]int64{"": 0, "0": 0, "1700000000": 1700000000} {
		if got, err := epoch(text); err != nil || got.Unix() != want || got.Location() != time.UTC {
			t.Errorf("epoch(%q) = %v, %v; want %d in UTC", text, got, err, want)
		}
	}
	for _, text := range []string{"today", "-1", "8589934592"} {
		if _, err := epoch(text); err == nil {
			t.Errorf("epoch(%q) has no error", text)
		}
	}
}

func extract(t *testing.T, archive []byte) (headers []tar.Header, files map[string][]byte) {
	t.Helper()
	files = make(map[string][]byte)
	for r := tar.NewReader(bytes.NewReader(archive)); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return headers, files
		}
		if err != nil {
			t.Fatal(err)
		}
		headers = append(headers, *h)
		if files[h.Name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
}

func parse(t *testing.T, body []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(body, into); err != nil {
		t.Fatal(err)
	}
}
