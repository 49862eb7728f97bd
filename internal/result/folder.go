package result

import (
	"crypto/rand"
	"encoding/base32"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// The files of a run directory.
const (
	SummaryFile    = "run.json"
	IntervalsFile  = "intervals.ndjson"
	EventsFile     = "events.ndjson"
	HistogramsFile = "histograms.hlog"
	CurvesFile     = "curves.json"
	ScenarioFile   = "scenario.yaml"
	AgentsFile     = "agents.ndjson" // only of a run that agents made
	PulsesFile     = "pulses.ndjson" // likewise
)

// RunFiles are their names, in the order in which they are listed.
func RunFiles() []string {
	return []string{SummaryFile, IntervalsFile, EventsFile, HistogramsFile, CurvesFile, ScenarioFile, AgentsFile, PulsesFile}
}

const (
	folderTime = "20060102T150405Z"
	nameLimit  = 48 // characters of a run's name in its folder's name
	idLength   = 6  // characters; 30 bits
)

// makeFolder makes the directory of a new run in outDir, and outDir where it is
// missing. It returns the directory and the run's short id.
func makeFolder(outDir, name string, startedAt time.Time) (dir, id string, err error) {
	if err := os.MkdirAll(outDir, 0o755); err != nil {
		return "", "", fmt.Errorf("cannot make the output folder: %w; choose a folder that can be written with --out",
			err)
	}
	prefix := startedAt.UTC().Format(folderTime) + "-" + folderName(name) + "-"
	// Mkdir refuses a folder that exists, so two runs never share one; the
	// second try is for the one chance in 10⁹ that ids meet.
	for range 2 {
		id = newID()
		dir = filepath.Join(outDir, prefix+id)
		if err = os.Mkdir(dir, 0o755); !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	if err != nil {
		return "", "", fmt.Errorf("cannot make the run's folder: %w; choose a folder that can be written with --out",
			err)
	}
	return dir, id, nil
}

// folderName keeps of a name what every file system takes, and gives what is
// left of an unusable name a word to be found by.
func folderName(name string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(name) {
		switch {
		case 'a' <= r && r <= 'z', '0' <= r && r <= '9', r == '_', r == '.':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
		if b.Len() == nameLimit {
			break
		}
	}
	if s := strings.Trim(b.String(), "-._"); s != "" {
		return s
	}
	return "run"
}

// newID is random, so that runs of several machines can be kept in one folder.
func newID() string {
	var random [5]byte
	rand.Read(random[:]) // never fails (crypto/rand)
	return strings.ToLower(base32.StdEncoding.EncodeToString(random[:]))[:idLength]
}
