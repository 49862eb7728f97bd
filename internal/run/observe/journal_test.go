package observe

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/load"
	"kafkabench.example/kafka-bench/internal/result"
)

type eventsSeen struct{ events []result.Event }

func (w *eventsSeen) Began(string)             {}
func (w *eventsSeen) Interval(result.Interval) {}
func (w *eventsSeen) Event(e result.Event)     { w.events = append(w.events, e) }

// A broker's message may have control characters; neither the files nor a page get them.
func TestJournalKeepsNoControlCharacters(t *testing.T) {
	w, err := result.Create(t.TempDir(), "s", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	watch := &eventsSeen{}
	j := NewJournal(load.NewAxis(nil), w, watch)
	j.SetAxis(0, time.Second)
	const said = "a policy\x1b[2K\u009b forbids\nit\u202e"
	j.Once("error", "the broker said "+said, errors.New(said))
	j.Event(result.Event{Kind: "error", What: "x", Data: map[string]any{"said": said}})
	j.Progress(said, nil)
	text, err := os.ReadFile(filepath.Join(w.Dir(), result.EventsFile))
	if err != nil {
		t.Fatal(err)
	}
	all := string(text)
	for _, e := range watch.events {
		all += e.What + e.Reason
	}
	for _, control := range []string{"\x1b", "\u009b", "\u202e", `\u001b`, `\u009b`, `\u202e`} {
		if strings.Contains(all, control) {
			t.Errorf("%q is in %q", control, all)
		}
	}
	if n := strings.Count(string(text), "a policy"); n != 3 {
		t.Errorf("the message is there %d times in\n%s", n, text)
	}
}
