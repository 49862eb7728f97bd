package result

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestReadSaysWhatIsBroken(t *testing.T) {
	for name, c := range map[string]struct {
		file, content string
		want          []string
	}{
		"newer schema":      {SummaryFile, `{"schema_version": 2, "load": "unheard of"}`, []string{"run.json", "schema_version 2", "reads up to 1"}},
		"not ours":          {SummaryFile, `{"name": "x"}`, []string{"run.json", "was not written by kafka-bench"}},
		"no JSON":           {SummaryFile, "{\n\"schema_version\": 1,\n oops", []string{"run.json:3", "invalid character"}},
		"a wrong type":      {SummaryFile, "{\n\"schema_version\": 1,\n\"load\": {\n\"acked\": \"many\"}}", []string{"run.json:4", "load.acked"}},
		"a broken interval": {IntervalsFile, "{}\n{\"acked\": }\n{}\n", []string{"intervals.ndjson:2", "invalid character"}},
		"an empty line":     {EventsFile, "{}\n\n{}\n", []string{"events.ndjson:2"}},
		"an interval with a wrong type, last but whole": {IntervalsFile, "{\"acked\": true}\n", []string{"intervals.ndjson:1", "acked"}},
	} {
		t.Run(name, func(t *testing.T) {
			w, err := Create(t.TempDir(), "x", time.Unix(0, 0))
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(w.Dir(), c.file), []byte(c.content), 0o644); err != nil {
				t.Fatal(err)
			}
			_, err = Read(w.Dir())
			for _, want := range c.want {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("error %q does not say %q", err, want)
				}
			}
		})
	}
}

func TestReadPassesOverWhatItDoesNotKnow(t *testing.T) {
	w, err := Create(t.TempDir(), "x", time.Unix(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	for file, content := range map[string]string{
		SummaryFile:   `{"schema_version": 1, "load": {"acked": 7, "acked_twice": 1}, "of_a_newer_minor": [1, 2]}`,
		IntervalsFile: `{"acked": 7, "mood": "good"}` + "\n",
	} {
		if err := os.WriteFile(filepath.Join(w.Dir(), file), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(filepath.Join(w.Dir(), EventsFile)); err != nil {
		t.Fatal(err)
	}
	r, err := Read(w.Dir())
	if err != nil {
		t.Fatal(err)
	}
	if r.Run.Load.Acked != 7 || len(r.Intervals) != 1 || r.Intervals[0].Acked != 7 {
		t.Errorf("read %+v, %+v", r.Run.Load, r.Intervals)
	}
	if len(r.Notes) != 1 || !strings.Contains(r.Notes[0], EventsFile) {
		t.Errorf("notes %q do not speak of the missing file", r.Notes)
	}
}

func TestList(t *testing.T) {
	out := t.TempDir()
	for second, name := range []string{"first", "second", "third"} {
		w, err := Create(out, name, time.Unix(int64(second), 0))
		if err != nil {
			t.Fatal(err)
		}
		if name == "second" {
			if err := os.WriteFile(filepath.Join(w.Dir(), SummaryFile), []byte("{"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.Mkdir(filepath.Join(out, "0-notes"), 0o755); err != nil {
		t.Fatal(err)
	}
	runs, err := List(out)
	if err != nil {
		t.Fatal(err)
	}
	if len(runs) != 3 || runs[0].Run.Run.Name != "first" || runs[1].Err == nil || runs[2].Run.Run.Name != "third" {
		t.Errorf("listed %+v", runs)
	}
	if _, err := Read(filepath.Join(out, "0-notes")); !errors.Is(err, ErrNotARun) {
		t.Errorf("a folder without a run: error %v", err)
	}
}

type fullDisk struct {
	bytes.Buffer
	room int
}

var errFull = errors.New("no space left on device")

func (d *fullDisk) Write(p []byte) (int, error) {
	if fits := d.room - d.Len(); fits < len(p) {
		d.Buffer.Write(p[:fits])
		return fits, errFull
	}
	return d.Buffer.Write(p)
}

func (d *fullDisk) Truncate(size int64) error { d.Buffer.Truncate(int(size)); return nil }
func (d *fullDisk) Sync() error               { return nil }
func (d *fullDisk) Close() error              { return nil }

// The error of a line names its file, and later lines are whole.
func TestFullDisk(t *testing.T) {
	disk := &fullDisk{room: 40}
	a := &appender{name: EventsFile, file: disk}
	event := func(what string) error { return a.line(map[string]string{"what": what}) }
	if err := event("fits"); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		err := event("does not fit into what is left")
		if !errors.Is(err, errFull) || !strings.Contains(err.Error(), EventsFile) {
			t.Fatalf("error %v, want one that names the file", err)
		}
	}
	disk.room = 1000
	if err := event("fits again"); err != nil {
		t.Fatal(err)
	}
	events, torn, err := readLines(&disk.Buffer, DecodeEvent)
	if err != nil || torn != 0 || len(events) != 2 || events[1].What != "fits again" {
		t.Errorf("read %+v, torn %d, error %v", events, torn, err)
	}
}

// Values that were read can be written and read again.
func FuzzReadLines(f *testing.F) {
	f.Add([]byte("{\"at_ns\":1,\"kind\":\"phase\",\"what\":\"measure\"}\n{\"at_ns\":2"))
	f.Add([]byte("{}\n\n"))
	f.Add([]byte("{\"data\":{\"n\":18446744073709551615}}\n"))
	f.Fuzz(func(t *testing.T, content []byte) {
		events, torn, err := readLines(bytes.NewReader(content), DecodeEvent)
		if err != nil {
			return
		}
		lines := bytes.Count(content, []byte("\n"))
		if len(events) > lines+1 || torn > lines+1 {
			t.Fatalf("%d events, torn %d, of %d lines", len(events), torn, lines)
		}
		var b bytes.Buffer
		for _, e := range events {
			line, err := encode(e, "")
			if err != nil {
				t.Fatal(err)
			}
			b.Write(line)
		}
		again, torn, err := readLines(&b, DecodeEvent)
		want, _ := json.Marshal(events)
		got, _ := json.Marshal(again)
		if err != nil || torn != 0 || len(events)+len(again) > 0 && !bytes.Equal(want, got) {
			t.Fatalf("%s read again is %s, torn %d, error %v", want, got, torn, err)
		}
	})
}
