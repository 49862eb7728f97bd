package truth

import (
	"bytes"
	"compress/flate"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/kafka/driver/franz"
	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/project/virtual"
	"kafkabench.example/kafka-bench/internal/result"
)

// orders returns a thousand JSON records of 22 to 204 bytes, one a line.
func orders() []byte {
	var all bytes.Buffer
	for i := range 1000 {
		fmt.Fprintf(&all, "{\"order\": %d, \"of\": \"%s\"}\n", i, strings.Repeat("x7 ", i*i%61))
	}
	return all.Bytes()
}

func ofFile(t *testing.T, name string, overrides ...string) (s scenario.Scenario, content []byte) {
	t.Helper()
	dir, content := t.TempDir(), orders()
	text := strings.Replace(small, "{size: 100B, payload: random}", "{payload: {file: orders.ndjson}}", 1)
	for file, content := range map[string][]byte{name + ".yaml": []byte(text), "orders.ndjson": content} {
		if err := os.WriteFile(filepath.Join(dir, file), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	suite, err := scenario.ReadSuite(filepath.Join(dir, name+".yaml"), scenario.Options{Set: overrides})
	if err != nil {
		t.Fatal(err)
	}
	return suite.Cells[0].Scenario, content
}

// An archive keeps the values that a run's consumers got, in order of their due times.
type archive struct {
	mu     sync.Mutex
	values map[int64][]byte // by intended send time
}

func (a *archive) keep(chunks []driver.Chunk) []driver.Chunk {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, c := range chunks {
		for _, r := range c.Records {
			if stamp, _, ok := stampOf(r.Stamp, r.Value); ok {
				a.values[stamp.Intended] = bytes.Clone(r.Value)
			}
		}
	}
	return chunks
}

// runOfFile sends each record of the file in the measured window exactly once. The window begins with record 500,
// because the warm-up has the first half.
func runOfFile(t *testing.T, c cluster.Cluster, s scenario.Scenario, content []byte) *result.Recorded {
	t.Helper()
	got := archive{values: make(map[int64][]byte)}
	r := run(t, withDriver(config(t, c, s), &tapped{Driver: franz.New(), poll: got.keep}))
	wantValid(t, r)
	wantBalance(t, r)
	wantCount(t, "unique", r.Run.Delivery.Unique, 1000)
	wantCount(t, "timed", r.Run.Time["e2e_response_time"].Count, 1000)
	lines := bytes.SplitAfter(bytes.TrimSuffix(content, []byte("\n")), []byte("\n"))
	var sent []byte
	for i := range 1000 {
		line, value := bytes.TrimSuffix(lines[(500+i)%1000], []byte("\n")), got.values[int64(i)*1e6]
		if !bytes.Equal(value, line) {
			t.Fatalf("record %d of the window is %q, want line %d of the file, %q", i, value, (500+i)%1000+1, line)
		}
		sent = append(append(sent, value...), '\n')
	}
	wantCount(t, "bytes", r.Run.Load.Bytes, int64(len(content)-1000))
	if ofRun, ofFile := packed(t, sent), packed(t, content); ofRun < 0.98*ofFile || ofRun > 1.02*ofFile {
		t.Errorf("the values of the run compress by %.2f, the file by %.2f", ofRun, ofFile)
	}
	f := r.Run.PayloadFile
	if f == nil || f.Name != "orders.ndjson" || f.Format != "lines" || f.SHA256 != s.Load.Record.Payload.SHA256 ||
		f.Records != 1000 || f.Bytes != int64(len(content)-1000) || f.MeanBytes != float64(f.Bytes)/1000 ||
		f.MinBytes != 22 || f.MaxBytes != 204 {
		t.Errorf("run.json has %+v", f)
	}
	return r
}

func packed(t *testing.T, content []byte) (ratio float64) {
	t.Helper()
	var out bytes.Buffer
	w, err := flate.NewWriter(&out, flate.DefaultCompression)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return float64(len(content)) / float64(out.Len())
}

func TestRecordsOfAFile(t *testing.T) {
	t.Parallel()
	virtual.Test(t, virtual.Options{}, func(t *testing.T, c *virtual.Cluster) {
		s, content := ofFile(t, "orders")
		runOfFile(t, c, s, content)
	})
}

// A run sends only what its scenario was resolved with.
func TestChangedFile(t *testing.T) {
	t.Parallel()
	virtual.Test(t, virtual.Options{}, func(t *testing.T, c *virtual.Cluster) {
		s, _ := ofFile(t, "changed")
		if err := os.WriteFile(s.Load.Record.Payload.File, []byte("{}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := tryRun(config(t, c, s))
		if err == nil || !strings.Contains(err.Error(), "load.record.payload.file: "+s.Load.Record.Payload.File+": its SHA-256 is") {
			t.Errorf("the error is %v", err)
		}
	})
}
