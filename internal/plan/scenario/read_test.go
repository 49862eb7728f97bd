package scenario

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReadErrors(t *testing.T) {
	dir := t.TempDir()
	huge := filepath.Join(dir, "huge.yaml")
	if err := os.WriteFile(huge, make([]byte, maxFileBytes+1), 0o600); err != nil {
		t.Fatal(err)
	}
	long := filepath.Join(dir, strings.Repeat("x", 300))
	cases := []struct {
		arg, want string
		is        error
	}{
		{"overlaod", "scenario overlaod: file does not exist, and no preset has this name; did you mean overload?", fs.ErrNotExist},
		{"nowhere/else.yaml", "scenario nowhere/else.yaml: file does not exist, and no preset has this name; kafka-bench list prints the presets", fs.ErrNotExist},
		{"", "no scenario is named; give a file or a preset (kafka-bench list)", nil},
		{dir, "scenario " + dir + " is a folder; name a file in it", nil},
		{huge, "scenario " + huge + " is larger than 1 MiB; is it a scenario?", nil},
		{long, "scenario " + long + " cannot be read: open ", nil},
		{"a\x00b", "scenario a\x00b cannot be read: open ", nil},
	}
	for _, c := range cases {
		_, err := Read(c.arg)
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("Read(%q): %v, want %s", c.arg, err, c.want)
		}
		if c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("Read(%q): %v is not %v", c.arg, err, c.is)
		}
	}
}

func TestPresetBeforeFile(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("quick", []byte("load: {rate: 7/s}"), 0o600); err != nil {
		t.Fatal(err)
	}
	preset, err := Read("quick")
	if err != nil {
		t.Fatal(err)
	}
	file, err := Read("./quick")
	if err != nil {
		t.Fatal(err)
	}
	if preset.Load.Producers != 4 || file.Load.Rate.Records != 7 || file.Name != "quick" {
		t.Errorf("preset %+v, file %+v", preset.Load, file.Load)
	}
}

func TestNamesOfFiles(t *testing.T) {
	for file, want := range map[string]string{
		"runs/My test (3).yaml": "My-test--3-", "x.y.yml": "x.y", ".hidden": "unnamed", "-_.yaml": "unnamed", "ü.yaml": "unnamed",
		strings.Repeat("long", 50): strings.Repeat("long", 16), "": "unnamed",
	} {
		if got := nameOf(file); got != want || !plainName(got) {
			t.Errorf("nameOf(%q) = %q, want %q", file, got, want)
		}
	}
}
