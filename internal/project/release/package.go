package main

import (
	"bytes"
	"compress/gzip"
	"context"
	_ "embed"
	"os"
	"path/filepath"
	"strings"
)

const nfpm = "github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.48.0"

//go:embed nfpm.yaml
var nfpmConfig []byte

// packages writes the packages for Debian and RPM of one architecture. nfpm.yaml says where they put
// the files.
func (r release) packages(ctx context.Context, arch string, files contents) error {
	folder := filepath.Join(r.scratch, "package_"+arch)
	for name, content := range files {
		switch {
		case strings.HasPrefix(name, "docs/"), strings.HasPrefix(name, "schema/"), strings.HasPrefix(name, "deploy/"):
			continue
		case strings.HasPrefix(name, "man/"):
			var err error
			if content, err = zipped(content); err != nil {
				return err
			}
			name += ".gz"
		}
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, content, os.FileMode(mode(name))); err != nil {
			return err
		}
	}
	config := filepath.Join(folder, "nfpm.yaml")
	if err := os.WriteFile(config, nfpmConfig, 0o644); err != nil {
		return err
	}
	env := []string{"ARCH=" + arch, "VERSION=" + r.version, "FILES=" + folder}
	for _, kind := range []string{"deb", "rpm"} {
		target := filepath.Join(r.out, strings.Join([]string{program, r.version, arch}, "_")+"."+kind)
		if _, err := output(ctx, env, "go", "run", nfpm, "package", "-f", config, "-p", kind, "-t", target); err != nil {
			return err
		}
	}
	return nil
}

// zipped compresses without a name and a time.
func zipped(content []byte) ([]byte, error) {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(content); err != nil {
		return nil, err
	}
	err = w.Close()
	return out.Bytes(), err
}
