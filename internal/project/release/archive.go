package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"maps"
	"slices"
	"time"
)

// archive returns the files below one folder, as a tar.gz with sorted names and fixed times and owners.
func archive(folder string, files contents, at time.Time) ([]byte, error) {
	var out bytes.Buffer
	compressed, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	w := tar.NewWriter(compressed)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		h := tar.Header{Name: folder + "/" + name, Mode: mode(name), Size: int64(len(files[name])), ModTime: at, Format: tar.FormatPAX}
		if err := w.WriteHeader(&h); err != nil {
			return nil, err
		}
		if _, err := w.Write(files[name]); err != nil {
			return nil, err
		}
	}
	err = errors.Join(w.Close(), compressed.Close())
	return out.Bytes(), err
}

func mode(name string) int64 {
	if name == program {
		return 0o755
	}
	return 0o644
}
