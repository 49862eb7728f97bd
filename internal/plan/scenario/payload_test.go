package scenario

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"kafkabench.example/kafka-bench/internal/plan/unit"
)

const fileSum = "b5f02bf9bd2e8da9e1d57b9bcbbe1e5a1b5f2f33a8e9ce2a0d2e9d3f8a2f2c11"

// folder returns a folder with a scenario s.yaml and a file of three records beside it.
func folder(t *testing.T, text string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, content := range map[string]string{"s.yaml": text, "orders.ndjson": "{}\n{\"a\": 1}\n{\"a\": 22222}\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestPayloadOfAFile(t *testing.T) {
	dir := folder(t, "load: {record: {payload: {file: orders.ndjson}}}")
	suite, err := ReadSuite(filepath.Join(dir, "s.yaml"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := suite.Cells[0].Scenario
	r := s.Load.Record
	if r.Payload.File != filepath.Join(dir, "orders.ndjson") || r.Payload.Format != "lines" || r.Payload.Class != "" ||
		len(r.Payload.SHA256) != len(fileSum) || r.Stamp != HeaderStamp {
		t.Errorf("the record is %+v", r)
	}
	if want := (Size{fileSizes, []unit.Size{2, 7, 12}}); !reflect.DeepEqual(r.Size, want) || r.Size.Mean() != 7 {
		t.Errorf("the sizes are %+v, want %+v", r.Size, want)
	}
	if _, err := r.Payload.ReadFile(); err != nil {
		t.Error(err)
	}
	text, err := s.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	again, err := Parse("again", text) // as a child process and a resumed campaign do: without the file
	if err != nil || !reflect.DeepEqual(again, s) {
		t.Errorf("read back as %+v, %v", again.Load.Record, err)
	}
	elsewhere := filepath.Join(folder(t, string(text)), "s.yaml") // the scenario of a run's folder
	if suite, err = ReadSuite(elsewhere, Options{}); err != nil || !reflect.DeepEqual(suite.Cells[0].Scenario.Load, s.Load) {
		t.Errorf("run again: %v", err)
	}
	if err := os.WriteFile(r.Payload.File, []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const want = "it is another file, or was changed"
	if _, err := r.Payload.ReadFile(); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("the error of a changed file is %v", err)
	}
	if _, err := ReadSuite(elsewhere, Options{}); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("the error of a changed file is %v", err)
	}
}

func TestPayloadOfTheCommandLine(t *testing.T) {
	file := filepath.Join(folder(t, ""), "orders.ndjson")
	suite, err := ReadSuite("baseline", Options{Set: []string{"load.record.payload.file=" + file}})
	if err != nil {
		t.Fatal(err)
	}
	if r := suite.Cells[0].Scenario.Load.Record; r.Payload.File != file || r.Size.Distribution != fileSizes {
		t.Errorf("the record is %+v", r)
	}
}

func TestPayloadMistakes(t *testing.T) {
	outside := filepath.Join(folder(t, ""), "orders.ndjson")
	for name, c := range map[string]struct{ text, set, want string }{
		"outside":        {text: "{payload: {file: ../orders.ndjson}}", want: "s.yaml:1:33: load.record.payload.file: the path leaves the folder of the scenario; put the file beside the scenario, or give --set load.record.payload.file=PATH"},
		"absolute":       {text: "{payload: {file: " + outside + "}}", want: "the path leaves the folder of the scenario"},
		"a linked file":  {text: "{payload: {file: link}}", want: "path escapes from parent"},
		"no file":        {text: "{payload: {file: none}}", want: "no such file or directory; name a file that can be read"},
		"another":        {text: "{payload: {file: orders.ndjson, sha256: " + fileSum + "}}", want: "it is another file, or was changed; give the file as it was, or leave sha256 out"},
		"another format": {text: "{payload: {file: orders.ndjson, format: length-prefixed}}", want: "is the file cut short, or its format lines?"},
		"no format":      {text: "{payload: {file: orders.ndjson, format: csv}}", want: "choose one of lines or length-prefixed"},
		"a size":         {text: "{payload: {file: orders.ndjson}, size: 100B}", want: "load.record.size: the records of a file have their own sizes; leave it out"},
		"a size set":     {text: "{payload: {file: orders.ndjson}}", set: "load.record.size=100B", want: "the records of a file have their own sizes"},
		"a value stamp":  {text: "{payload: {file: orders.ndjson}, stamp: value}", want: "load.record.stamp: the records of a file are sent unchanged"},
		"no path":        {text: "{payload: {format: lines}}", want: "it describes a file, and names none"},
		"only sizes":     {text: "{size: {file: [1B, 2B, 3B]}}", want: "load.record.size: there is no file whose sizes these are"},
		"no sizes":       {text: "{payload: {file: orders.ndjson}, size: {file: [3B]}}", want: ""},
		"too large":      {text: "{payload: {file: orders.ndjson}}, batch: 100B", want: "a record of 12B needs a batch of 142B, and load.batch is 100B"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := folder(t, "load: {record: "+c.text+"}")
			if err := os.Symlink(outside, filepath.Join(dir, "link")); err != nil {
				t.Fatal(err)
			}
			o := Options{}
			if c.set != "" {
				o.Set = []string{c.set}
			}
			_, err := ReadSuite(filepath.Join(dir, "s.yaml"), o)
			if c.want == "" && err == nil {
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v does not say %q", err, c.want)
			}
		})
	}
}

// A class replaces a file, and a file a class.
func TestPayloadOfALaterLayer(t *testing.T) {
	dir := folder(t, "load: {record: {payload: text, size: 100B}}\nmatrix: {load.record.payload: [json, {file: orders.ndjson}]}")
	suite, err := ReadSuite(filepath.Join(dir, "s.yaml"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	generated, ofFile := suite.Cells[0].Scenario.Load.Record, suite.Cells[1].Scenario.Load.Record
	if generated.Payload != (Payload{Class: "json"}) || generated.Stamp != "value" || generated.Size.Mean() != 100 {
		t.Errorf("the record of a class is %+v", generated)
	}
	if ofFile.Payload.Class != "" || ofFile.Stamp != HeaderStamp || ofFile.Size.Mean() != 7 {
		t.Errorf("the record of a file is %+v", ofFile)
	}
}
