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

// Files of a run's folder.
const (
	SummaryFile    = "run.json"
	IntervalsFile  = "intervals.ndjson"
	EventsFile     = "events.ndjson"
	HistogramsFile = "histograms.hlog"
	CurvesFile     = "curves.json"
	ScenarioFile   = "scenario.yaml"
	AgentsFile     = "agents.ndjson" // only of a run of agents
	PulsesFile     = "pulses.ndjson" // only of a run of agents
)

// RunFiles returns the names of a run's files, in the order of lists.
func RunFiles() []string {
	return []string{SummaryFile, IntervalsFile, EventsFile, HistogramsFile, CurvesFile, ScenarioFile, AgentsFile, PulsesFile}
}

const (
	folderTime = "20060102T150405Z"
	nameLimit  = 48 // characters of a run's name in its folder's name
	idLength   = 6  // characters; 30 bits
)

func makeFolder(outDir, name string, startedAt time.Time) (dir, id string, err error) {
	if err := os.MkdirAll(outDir, 0o755); err != nil {
		return "", "", fmt.Errorf("cannot make the output folder: %w; choose a folder that can be written",
			err)
	}
	prefix := startedAt.UTC().Format(folderTime) + "-" + folderName(name) + "-"
	// Runs never share a folder. IDs are equal once in 10⁹; two tries are enough.
	for range 2 {
		id = newID()
		dir = filepath.Join(outDir, prefix+id)
		if err = os.Mkdir(dir, 0o755); !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	if err != nil {
		return "", "", fmt.Errorf("cannot make the run's folder: %w; choose a folder that can be written",
			err)
	}
	return dir, id, nil
}

// folderName keeps the characters that every file system accepts; "run" if none is left.
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

// newID is random, because one folder may hold runs of several machines.
func newID() string {
	var random [5]byte
	rand.Read(random[:]) // never fails (crypto/rand)
	return strings.ToLower(base32.StdEncoding.EncodeToString(random[:]))[:idLength]
}
