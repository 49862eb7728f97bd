package kmq_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const page = "../docs/queue.md"

// docs/queue.md names only existing events, and names every error.
func TestThePageNamesEvents(t *testing.T) {
	text := strings.Join(strings.Fields(read(t, page)), " ")
	var code strings.Builder
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && filepath.Ext(path) == ".go" && !strings.HasSuffix(path, "_test.go") {
			code.WriteString(read(t, path))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	events := regexp.MustCompile("`kmq: ([^`…;]+)").FindAllStringSubmatch(text, -1)
	for _, e := range events {
		if !strings.Contains(code.String(), `"kmq: `+strings.TrimSpace(e[1])) {
			t.Errorf("%s names the event %q, which the code does not log", page, e[1])
		}
	}
	logged := regexp.MustCompile(`Error\("(kmq: [^"]+)"`).FindAllStringSubmatch(code.String(), -1)
	if len(logged) < 5 {
		t.Errorf("only %d errors were found in the code", len(logged))
	}
	for _, l := range logged {
		start, _, _ := strings.Cut(l[1], ";")
		if !strings.Contains(text, "`"+start) {
			t.Errorf("the error %q is not in %s", l[1], page)
		}
	}
}

// Each numbered promise of docs/queue.md has a row in breaks.yaml, and so has a test that fails without it.
func TestThePromisesAreInvariants(t *testing.T) {
	_, promises, _ := strings.Cut(read(t, page), "\n## Promises\n")
	promises, _, _ = strings.Cut(promises, "\n## ")
	rows := read(t, "../internal/project/breaks/breaks.yaml")
	numbers := regexp.MustCompile(`(?m)^(\d+)\. `).FindAllStringSubmatch(promises, -1)
	if named := strings.Count(rows, "of docs/queue.md)"); len(numbers) != named || named == 0 {
		t.Errorf("%s has %d promises, breaks.yaml has %d", page, len(numbers), named)
	}
	for _, n := range numbers {
		if row := fmt.Sprintf("(invariant %s of docs/queue.md)", n[1]); !strings.Contains(rows, row) {
			t.Errorf("breaks.yaml has no row with %q", row)
		}
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
