package calibrate

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// ErrNone is wrapped by Load if this machine was never calibrated.
var ErrNone = errors.New("this machine was never calibrated; kafka-bench calibrate does it")

func path(dir, hostName string) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '.' {
			return r
		}
		return '_'
	}, hostName)
	return filepath.Join(dir, "calibration-"+name+".json")
}

func hostName() string {
	name, err := os.Hostname()
	if err != nil || name == "" {
		return "localhost"
	}
	return name
}

// Save writes the calibration to dir, replaces this machine's earlier one, and returns the file.
func (c *Calibration) Save(dir string) (file string, err error) {
	text, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return "", fmt.Errorf("the calibration could not be encoded: %w", err)
	}
	file = path(dir, c.HostName)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("the calibration could not be saved: %w", err)
	}
	// Replace the file in one step, because another process may read it.
	fresh := file + ".new"
	if err := os.WriteFile(fresh, append(text, '\n'), 0o644); err != nil {
		return "", fmt.Errorf("the calibration could not be saved: %w", err)
	}
	if err := os.Rename(fresh, file); err != nil {
		return "", errors.Join(fmt.Errorf("the calibration could not be saved: %w", err), os.Remove(fresh))
	}
	return file, nil
}

// Load reads this machine's calibration from dir. The error wraps ErrNone if there is none.
func Load(dir string) (*Calibration, error) {
	file := path(dir, hostName())
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNone
	}
	if err != nil {
		return nil, fmt.Errorf("the calibration cannot be read: %w", err)
	}
	c := new(Calibration)
	if err := json.Unmarshal(text, c); err != nil {
		return nil, fmt.Errorf("the calibration in %s cannot be read: %w; make a new one with kafka-bench calibrate",
			file, err)
	}
	if c.SchemaVersion < 1 || c.SchemaVersion > SchemaVersion {
		return nil, fmt.Errorf("the calibration in %s has the schema_version %d, and this kafka-bench reads %d; make a new one with kafka-bench calibrate", file, c.SchemaVersion, SchemaVersion)
	}
	return c, nil
}
