package scenario

import (
	"fmt"
	"path/filepath"
	"strings"

	"kafkabench.example/kafka-bench/internal/plan/payload"
	"kafkabench.example/kafka-bench/internal/plan/unit"
)

// fileSizes is the Distribution of the sizes of a file's records.
const fileSizes = "file"

const (
	payloadKey     = "load.record.payload"
	payloadFileKey = payloadKey + ".file"
	sizeKey        = "load.record.size"
	stampKey       = "load.record.stamp"
)

// String returns the class, or the name of the file without its folder.
func (p Payload) String() string {
	if p.File != "" {
		return filepath.Base(p.File)
	}
	return p.Class
}

// ReadFile reads the records of the file; their checksum must be the one that the scenario was
// resolved with.
func (p Payload) ReadFile() (*payload.Corpus, error) {
	if p.SHA256 == "" {
		return nil, fmt.Errorf("%s: the file's checksum is not known; give sha256", payloadFileKey)
	}
	corpus, err := payload.ReadFile(payload.File{Path: p.File, Format: p.Format, SHA256: p.SHA256})
	if err != nil {
		return nil, fmt.Errorf("%s: %s: %w", payloadFileKey, p.File, err)
	}
	return corpus, nil
}

func (c *checker) payload(r Record) {
	p := r.Payload
	if p.File == "" {
		c.choice(payloadKey, p.Class, payloads)
		if p.Format != "" || p.SHA256 != "" {
			c.mistake(payloadKey, "it describes a file, and names none", "give its path, as in {file: orders.ndjson}")
		}
		if r.Size.Distribution == fileSizes {
			c.mistake(sizeKey, "there is no file whose sizes these are", "give one size, as in 512B", payloadFileKey)
		}
		return
	}
	c.choice(payloadKey+".format", p.Format, payload.Formats)
	if !r.Header() {
		c.mistake(stampKey, "the records of a file are sent unchanged, and a stamp in the value would change them",
			"set it to header, or leave it out", payloadFileKey)
	}
}

// fileReader remembers the statistics of each file, because a suite may have a thousand cells.
type fileReader map[payload.File]fileRead

type fileRead struct {
	stats *payload.FileStats
	err   error
}

func (r fileReader) read(f payload.File) (*payload.FileStats, error) {
	known, ok := r[f]
	if !ok {
		corpus, err := payload.ReadFile(f)
		if known.err = err; err == nil {
			known.stats = corpus.File()
		}
		r[f] = known
	}
	return known.stats, known.err
}

// readPayload fills in what the file of records shows: sizes, checksum and absolute path.
func (d *decoder) readPayload(s *Scenario, c *checker) {
	r := &s.Load.Record
	if d.files == nil || r.Payload.File == "" {
		return
	}
	d.refuseSize(r.Size, c)
	f := payload.File{Path: r.Payload.File, Format: r.Payload.Format, SHA256: r.Payload.SHA256}
	if !d.mayBeAnywhere(r.Payload) {
		f.Within = filepath.Dir(d.places[payloadFileKey].file)
		if !filepath.IsLocal(f.Path) {
			c.mistake(payloadFileKey, "the path leaves the folder of the scenario",
				fmt.Sprintf("put the file beside the scenario, or give %s%s=PATH", overridePrefix, payloadFileKey))
			return
		}
	}
	stats, err := d.files.read(f)
	if err == nil {
		r.Payload.File, err = filepath.Abs(filepath.Join(f.Within, f.Path))
	}
	if err != nil {
		problem, remedy, _ := strings.Cut(err.Error(), "; ")
		c.mistake(payloadFileKey, problem, remedy)
		return
	}
	r.Payload.SHA256 = stats.SHA256
	r.Size = Size{Distribution: fileSizes, Values: []unit.Size{
		unit.Size(stats.Min), unit.Size(stats.Mean() + 0.5), unit.Size(stats.Max),
	}}
}

// mayBeAnywhere reports whether the user chose the path, or the content is known to who wrote it.
// A stranger's scenario must not send other files of this machine.
func (d *decoder) mayBeAnywhere(p Payload) bool {
	return isOverride(d.places[payloadFileKey].file) || filepath.IsAbs(p.File) && p.SHA256 != ""
}

// refuseSize refuses a size that is written beside a file. A file replaces the size that a preset or an earlier layer has.
func (d *decoder) refuseSize(size Size, c *checker) {
	at, written := d.places[sizeKey]
	varied := d.cell != nil && len(d.cell.settersOf(payloadFileKey)) > 0 // the size is that of other cells
	if written && !varied && size.Distribution != fileSizes &&
		(at.file == d.places[payloadFileKey].file || isOverride(at.file)) {
		c.mistake(sizeKey, "the records of a file have their own sizes", "leave it out", payloadFileKey)
	}
}
