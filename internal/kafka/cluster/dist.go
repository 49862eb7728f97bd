package cluster

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

//go:embed dist/log4j2.properties
var log4jProperties []byte

const (
	manifestName    = "manifest.json"
	manifestVersion = 2
	distBytes       = 256 << 20
)

// Dist is Apache Kafka on disk: the broker's and tools' jars, and the metrics agent.
type Dist struct {
	Dir     string // holds lib/, agent/ and the manifest
	Version string // Kafka's, as in 4.3.1
}

// Lib returns the folder with the jars.
func (d Dist) Lib() string { return filepath.Join(d.Dir, libFolder) }

const libFolder = "lib"

var distFolders = []string{libFolder, agentFolder}

// Classpath returns all jars in the form of java's -cp.
func (d Dist) Classpath() string { return filepath.Join(d.Lib(), "*") }

type manifest struct {
	Version int            `json:"version"`
	Kafka   string         `json:"kafka"`
	Files   []manifestFile `json:"files"`
}

type manifestFile struct {
	Name   string `json:"name"` // with its folder, as in lib/x.jar
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// KafkaDist returns this machine's copy of a release line of Kafka, for instance 4.3 ("" is the
// default line). If the copy is missing or damaged, KafkaDist resolves it with Maven (about 55 MB).
// It checks only names and sizes; Verify reads every byte. Several processes may call it at once.
// progress may be nil.
func (h Home) KafkaDist(ctx context.Context, line string, progress func(string)) (Dist, error) {
	v, err := versionOf(line)
	if err != nil {
		return Dist{}, err
	}
	dist := h.dist(v)
	if dist.checkSizes() == nil {
		return dist, nil
	}
	if err := makeDir(h.Dist); err != nil {
		return Dist{}, err
	}
	lock, err := lockFile(ctx, dist.Dir+".lock", func() {
		tell(progress, "waiting for another kafka-bench that resolves Kafka %s", v.Kafka)
	})
	if err != nil {
		return Dist{}, err
	}
	defer lock.unlock()

	damage := dist.checkSizes()
	if damage == nil {
		return dist, nil // another process has resolved it meanwhile
	}
	if errors.Is(damage, os.ErrNotExist) {
		tell(progress, "resolving Kafka %s with Maven", v.Kafka)
	} else {
		tell(progress, "resolving Kafka %s with Maven again: %v", v.Kafka, damage)
	}
	if err := h.resolve(ctx, v, dist); err != nil {
		return Dist{}, err
	}
	return dist, nil
}

// Cached returns the copy that KafkaDist would return and its size in bytes, or why there is none, without downloading
// anything. The Dist has its folder in any case.
func (h Home) Cached(line string) (d Dist, bytes int64, err error) {
	v, err := versionOf(line)
	if err != nil {
		return Dist{}, 0, err
	}
	d = h.dist(v)
	m, err := d.readManifest()
	if err == nil {
		err = d.checkSizes()
	}
	for _, file := range m.Files {
		bytes += file.Bytes
	}
	return d, bytes, err
}

// The folder's name has a hash of the pom, so another pom gets another copy.
func (h Home) dist(v version) Dist {
	sum := sha256.Sum256(append(bytes.Clone(pom), strings.Join(v.properties(), " ")...))
	folder := fmt.Sprintf("kafka-%s-%s", v.Kafka, hex.EncodeToString(sum[:4]))
	return Dist{Dir: filepath.Join(h.Dist, folder), Version: v.Kafka}
}

// fetchedVariable names a folder with the jars of the default version, which make bench fetches while it compiles.
const fetchedVariable = "KAFKA_BENCH_FETCHED"

// resolve fills a folder next to dist and renames it, so a copy is complete or missing.
func (h Home) resolve(ctx context.Context, v version, dist Dist) error {
	if err := needDisk(h.Dist, distBytes); err != nil {
		return err
	}
	work, err := os.MkdirTemp(h.Dist, ".resolve-")
	if err != nil {
		return &Error{
			Kind: ErrUnavailable, What: "the folder " + h.Dist + " can't be written", Cause: err,
			Remedy: "set XDG_CACHE_HOME to a folder that you may write to",
		}
	}
	defer os.RemoveAll(work)
	staged := Dist{Dir: filepath.Join(work, "dist"), Version: v.Kafka}
	fetched := os.Getenv(fetchedVariable)
	if fetched == "" || v.Kafka != KafkaVersion || os.Rename(fetched, staged.Dir) != nil {
		if err := runMaven(ctx, v, work); err != nil {
			return err
		}
	}
	if err := staged.writeManifest(); err != nil {
		return fmt.Errorf("resolve Kafka %s: %w", v.Kafka, err)
	}
	if err := os.RemoveAll(dist.Dir); err != nil {
		return fmt.Errorf("remove the damaged Kafka: %w", err)
	}
	if err := os.Rename(staged.Dir, dist.Dir); err != nil {
		return fmt.Errorf("move Kafka into place: %w", err)
	}
	return nil
}

// writeManifest fails if the broker or its agent is missing.
func (d Dist) writeManifest() error {
	have, err := d.sizes()
	if err != nil {
		return err
	}
	m := manifest{Version: manifestVersion, Kafka: d.Version}
	for _, name := range slices.Sorted(maps.Keys(have)) {
		file, err := d.describe(name)
		if err != nil {
			return err
		}
		m.Files = append(m.Files, file)
	}
	jar := func(name string) string { return filepath.Join(d.Lib(), name+d.Version+".jar") }
	for _, needed := range []string{jar("kafka_2.13-"), jar("kafka-tools-"), d.Agent()} {
		if _, err := os.Stat(needed); err != nil {
			return fmt.Errorf("a needed jar is not among the %d that Maven copied: %w", len(have), err)
		}
	}
	return writeJSON(filepath.Join(d.Dir, manifestName), m)
}

func (d Dist) sizes() (map[string]int64, error) {
	have := make(map[string]int64)
	for _, folder := range distFolders {
		entries, err := os.ReadDir(filepath.Join(d.Dir, folder))
		if err != nil {
			return nil, err
		}
		for _, entry := range entries {
			info, err := entry.Info()
			if err != nil {
				return nil, err
			}
			have[path.Join(folder, entry.Name())] = info.Size()
		}
	}
	return have, nil
}

func (d Dist) describe(name string) (manifestFile, error) {
	file, err := os.Open(filepath.Join(d.Dir, filepath.FromSlash(name)))
	if err != nil {
		return manifestFile{}, err
	}
	defer file.Close()
	sum := sha256.New()
	size, err := io.Copy(sum, file)
	if err != nil {
		return manifestFile{}, err
	}
	return manifestFile{Name: name, Bytes: size, SHA256: hex.EncodeToString(sum.Sum(nil))}, nil
}

// Verify compares every jar with the manifest. The error names the first that differs.
func (d Dist) Verify() error {
	m, err := d.readManifest()
	if err != nil {
		return err
	}
	if err := d.checkSizes(); err != nil {
		return err
	}
	for _, want := range m.Files {
		got, err := d.describe(want.Name)
		if err != nil {
			return err
		}
		if got != want {
			return fmt.Errorf("%s has changed since Maven copied it",
				filepath.Join(d.Dir, filepath.FromSlash(want.Name)))
		}
	}
	return nil
}

// condemn removes the manifest of a damaged copy, so that the next start resolves Kafka again.
func (d Dist) condemn() error {
	damage := d.Verify()
	if damage == nil {
		return nil
	}
	return &Error{
		Kind: ErrUnavailable, What: "the Kafka in " + d.Dir + " is damaged",
		Remedy: "start again: Maven will then resolve it again",
		Cause:  errors.Join(damage, os.Remove(filepath.Join(d.Dir, manifestName))),
	}
}

func (d Dist) readManifest() (manifest, error) {
	var m manifest
	path := filepath.Join(d.Dir, manifestName)
	if err := readJSON(path, &m); err != nil {
		return manifest{}, err
	}
	if m.Version != manifestVersion || m.Kafka != d.Version || len(m.Files) == 0 {
		return manifest{}, fmt.Errorf("%s is not a manifest of Kafka %s", path, d.Version)
	}
	return m, nil
}

// An extra jar is damage too, because java would load it.
func (d Dist) checkSizes() error {
	m, err := d.readManifest()
	if err != nil {
		return err
	}
	have, err := d.sizes()
	if err != nil {
		return err
	}
	for _, file := range m.Files {
		size, ok := have[file.Name]
		if !ok {
			return fmt.Errorf("%s is missing", file.Name)
		}
		if size != file.Bytes {
			return fmt.Errorf("%s has %d bytes instead of %d", file.Name, size, file.Bytes)
		}
		delete(have, file.Name)
	}
	for name := range have {
		return fmt.Errorf("%s is not in the manifest", name)
	}
	return nil
}
