package scenario

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files under testdata anew")

// golden compares got with a file under testdata, which -update writes.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (go test -update writes it)", err)
	}
	if got != string(want) {
		t.Errorf("%s differs from what it was; if that is right, run go test -update\ngot:\n%s\nwant:\n%s", path, got, want)
	}
}

func TestGoldenPresets(t *testing.T) {
	for _, name := range Names() {
		s, err := ReadSuite(name, Options{})
		if err != nil {
			t.Error(err)
			continue
		}
		text, err := s.Marshal()
		if err != nil {
			t.Error(err)
		}
		golden(t, name+".golden.yaml", string(text))
	}
}

// A file with about everything wrong in it: all of it is said at once.
func TestGoldenFaults(t *testing.T) {
	text, err := os.ReadFile("testdata/faults.yaml")
	if err != nil {
		t.Fatal(err)
	}
	_, err = Parse("faults.yaml", text, "load.rate", "load.rte=3", "load.level=[1", "load.max_buffered=", "backpressure.poll=2h")
	if err == nil {
		t.Fatal("no faults found")
	}
	golden(t, "faults.golden.txt", err.Error()+"\n")
}

// Everything that a scenario can say, in its long forms.
func TestGoldenEverything(t *testing.T) {
	s, err := Read("testdata/everything.yaml")
	if err != nil {
		t.Fatal(err)
	}
	text, err := s.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "everything.golden.yaml", string(text))
	asJSON, err := s.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "everything.golden.json", string(asJSON)+"\n")
}

// A queue has to itself what the rest of a scenario may not have beside it.
func TestGoldenQueue(t *testing.T) {
	s, err := Read("testdata/queue.yaml")
	if err != nil {
		t.Fatal(err)
	}
	text, err := s.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "queue.golden.yaml", string(text))
}
