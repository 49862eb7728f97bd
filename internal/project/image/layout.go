package main

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"time"
)

// Other images without a distribution use this number for "nonroot".
const user = "65532:65532"

// The types below are those of the OCI image specification 1.1, with the fields that are used.
const (
	indexType    = "application/vnd.oci.image.index.v1+json"
	manifestType = "application/vnd.oci.image.manifest.v1+json"
	configType   = "application/vnd.oci.image.config.v1+json"
	layerType    = "application/vnd.oci.image.layer.v1.tar"
	versionLabel = "org.opencontainers.image.version"
	tagLabel     = "org.opencontainers.image.ref.name"
)

type platform struct {
	Architecture string `json:"architecture"`
	OS           string `json:"os"`
}

type descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int               `json:"size"` // bytes
	Platform    *platform         `json:"platform,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

type index struct {
	SchemaVersion int          `json:"schemaVersion"`
	MediaType     string       `json:"mediaType"`
	Manifests     []descriptor `json:"manifests"`
}

type manifest struct {
	SchemaVersion int          `json:"schemaVersion"`
	MediaType     string       `json:"mediaType"`
	Config        descriptor   `json:"config"`
	Layers        []descriptor `json:"layers"`
}

type config struct {
	Created time.Time `json:"created"`
	platform
	Config struct {
		User       string
		Entrypoint []string
		Labels     map[string]string
	} `json:"config"`
	RootFS struct {
		Type    string   `json:"type"`
		DiffIDs []string `json:"diff_ids"`
	} `json:"rootfs"`
}

// layout returns an OCI image layout as a tar: one image, tagged with version, for the architecture
// of each binary. The argument name is that of the binary's file in the image, and at is the time
// of every file.
func layout(name, version string, at time.Time, binaries map[string][]byte) ([]byte, error) {
	files := contents{"oci-layout": []byte(`{"imageLayoutVersion":"1.0.0"}`)}
	platforms := index{SchemaVersion: 2, MediaType: indexType}
	for _, arch := range slices.Sorted(maps.Keys(binaries)) {
		layer, err := layerOf(name, binaries[arch], at)
		if err != nil {
			return nil, err
		}
		image := manifest{SchemaVersion: 2, MediaType: manifestType, Layers: []descriptor{files.blob(layerType, layer)}}
		c := config{Created: at, platform: platform{arch, "linux"}}
		c.Config.User, c.Config.Entrypoint = user, []string{"/" + name}
		c.Config.Labels = map[string]string{versionLabel: version}
		c.RootFS.Type, c.RootFS.DiffIDs = "layers", []string{image.Layers[0].Digest}
		if image.Config, err = files.json(configType, c); err != nil {
			return nil, err
		}
		d, err := files.json(manifestType, image)
		if err != nil {
			return nil, err
		}
		d.Platform = &c.platform
		platforms.Manifests = append(platforms.Manifests, d)
	}
	// A tool that gets the file without a tag uses its only entry.
	entry, err := files.json(indexType, platforms)
	if err != nil {
		return nil, err
	}
	entry.Annotations = map[string]string{tagLabel: version}
	files["index.json"], err = json.Marshal(index{SchemaVersion: 2, MediaType: indexType, Manifests: []descriptor{entry}})
	if err != nil {
		return nil, err
	}
	return files.tar(at)
}

func layerOf(name string, binary []byte, at time.Time) ([]byte, error) {
	return archive([]entry{{name, 0o755, binary}, {"tmp/", 0o1777, nil}}, at)
}

type contents map[string][]byte

func (c contents) blob(mediaType string, body []byte) descriptor {
	sum := sha256.Sum256(body)
	name := hex.EncodeToString(sum[:])
	c["blobs/sha256/"+name] = body
	return descriptor{MediaType: mediaType, Digest: "sha256:" + name, Size: len(body)}
}

func (c contents) json(mediaType string, v any) (descriptor, error) {
	body, err := json.Marshal(v)
	return c.blob(mediaType, body), err
}

func (c contents) tar(at time.Time) ([]byte, error) {
	entries := []entry{{"blobs/", 0o755, nil}, {"blobs/sha256/", 0o755, nil}}
	for _, name := range slices.Sorted(maps.Keys(c)) {
		entries = append(entries, entry{name, 0o644, c[name]})
	}
	return archive(entries, at)
}

// entry is a file of a tar, or a folder if its name ends with a slash.
type entry struct {
	name string
	mode int64
	body []byte
}

func archive(entries []entry, at time.Time) ([]byte, error) {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, e := range entries {
		h := tar.Header{Name: e.name, Mode: e.mode, Size: int64(len(e.body)), ModTime: at, Format: tar.FormatUSTAR}
		if err := w.WriteHeader(&h); err != nil {
			return nil, err
		}
		if _, err := w.Write(e.body); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
