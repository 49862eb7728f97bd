package scenario

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files under testdata anew")

// golden compares got with a file under testdata; -update writes it.
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

// A file with about every mistake gets all of them in one error.
func TestGoldenMistakes(t *testing.T) {
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

// A scenario with every key is printed in its long forms. A queue needs its own scenario, because
// it excludes other keys.
func TestGoldenEverything(t *testing.T) {
	for name, print := range map[string]func(Scenario) ([]byte, error){
		"everything.golden.yaml": Scenario.Marshal,
		"everything.golden.json": Scenario.MarshalJSON,
		"queue.golden.yaml":      Scenario.Marshal,
	} {
		of, _, _ := strings.Cut(name, ".")
		s, err := Read("testdata/" + of + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		text, err := print(s)
		if err != nil {
			t.Fatal(err)
		}
		golden(t, name, strings.TrimSuffix(string(text), "\n")+"\n")
	}
}
