package scenario

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files under testdata anew")

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
