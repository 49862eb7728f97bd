package kmq_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// docs/KMQ.md names only existing tests and events, and names every event.
func TestTheDocumentNamesWhatThereIs(t *testing.T) {
	text, err := os.ReadFile("../docs/KMQ.md")
	if err != nil {
		t.Fatal(err)
	}
	var code, tests strings.Builder
	err = filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".go" {
			return err
		}
		b, err := os.ReadFile(path)
		if strings.HasSuffix(path, "_test.go") {
			tests.Write(b)
		} else {
			code.Write(b)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile("`(Test[A-Za-z0-9]+)`").FindAllStringSubmatch(string(text), -1)
	if len(named) < 20 {
		t.Errorf("only %d tests are named", len(named))
	}
	for _, n := range named {
		if !strings.Contains(tests.String(), "func "+n[1]+"(") {
			t.Errorf("docs/KMQ.md names %s, which is no test", n[1])
		}
	}
	events := regexp.MustCompile("`kmq: ([^`…;]+)").FindAllStringSubmatch(string(text), -1)
	if len(events) < 10 {
		t.Errorf("only %d events are named", len(events))
	}
	for _, e := range events {
		if !strings.Contains(code.String(), `"kmq: `+strings.TrimSpace(e[1])) {
			t.Errorf("docs/KMQ.md names the event %q, which nobody logs", e[1])
		}
	}
	for _, logged := range regexp.MustCompile(`(?:Info|Warn|Error|Debug)\("(kmq: [^"]+)"`).FindAllStringSubmatch(code.String(), -1) {
		start, _, _ := strings.Cut(logged[1], ";")
		if !strings.Contains(string(text), "`"+start) {
			t.Errorf("the event %q is not in docs/KMQ.md", logged[1])
		}
	}
}
