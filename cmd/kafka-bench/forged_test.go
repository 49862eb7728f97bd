package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/plan/textfile"
	"kafkabench.example/kafka-bench/internal/result"
)

// forged would clear a line, write a verdict in a line of its own, and turn the text around.
const forged = "\x1b[2K\u009b31m\r\nFORGED  VERDICT valid\n\u202edilav\u2066"

// forge adds forged to all strings of a JSON document, except times and those at the given paths.
func forge(v any, path string, except ...string) any {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			v[key] = forge(value, strings.TrimPrefix(path+"."+key, "."), except...)
		}
	case []any:
		for i := range v {
			v[i] = forge(v[i], path, except...)
		}
	case string:
		if _, err := time.Parse(time.RFC3339, v); err != nil && !slices.Contains(except, path) {
			return v + forged
		}
	}
	return v
}

func forgeFile(t *testing.T, path string, except ...string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var document any
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	text, err = json.Marshal(forge(document, "", except...))
	if err == nil {
		err = os.WriteFile(path, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func wantNothingForged(t *testing.T, args []string, said string) {
	t.Helper()
	if textfile.Lines(said) != said {
		t.Errorf("%s: control characters in\n%.2000q", args, said)
	}
	for line := range strings.Lines(said) {
		if slices.Contains(args, "text") {
			break // its lines are wrapped at blanks
		}
		if strings.HasPrefix(line, "FORGED") {
			t.Errorf("%s: a forged line in\n%.2000s", args, said)
			return
		}
	}
}

// A text in a stranger's run or campaign changes nothing that a terminal, a page or a spreadsheet shows of other runs.
func TestNothingIsForged(t *testing.T) {
	t.Chdir(t.TempDir())
	r := newRecorder(t)
	words := []string{"run.name", "verdict.status", "system.status"}
	for i := range 3 {
		dir := fmt.Sprintf("runs/a-%d", i)
		r.run(dir, "a", 1)
		forgeFile(t, filepath.Join(dir, result.SummaryFile), words...)
		r.run(fmt.Sprintf("runs/b-%d", i), "b", 2)
	}
	r.campaign("runs/sweep")
	forgeFile(t, "runs/sweep/"+result.CampaignFile, "runs.dir", "runs.status", "campaign.kind", "campaign.order", "campaign.answer", "campaign.by", "axes.path")
	for _, file := range []string{result.IntervalsFile, result.EventsFile} {
		text := fmt.Sprintf("{\"phase\": %[1]q, \"kind\": %[1]q, \"what\": %[1]q, \"late\": [%[1]q]}\n", "x"+strings.ReplaceAll(forged, "\u009b", ""))
		text = strings.NewReplacer(`\x1b`, `\u001b`).Replace(text)
		if err := os.WriteFile(filepath.Join("runs/a-0", file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r.run("runs/bad\x1b[2K\nFORGED", "c", 1)
	for _, format := range []string{"text", "markdown", "csv", "json", "html"} {
		for _, args := range [][]string{
			{"report", "runs/a-0"}, {"report", "runs/a-0", "runs/a-1"}, {"report", "runs/sweep"}, {"history", "a", "--out", "runs"},
			{"compare", "runs/a-*", "runs/b-*"},
		} {
			args = append(args, "--format", format)
			got := invoke(t, args...)
			if got.code != exitValid {
				t.Errorf("%s: exit code %d and %.500s", args, got.code, got.stderr)
			}
			wantNothingForged(t, args, got.stdout)
			wantNothingForged(t, args, got.stderr)
		}
	}
	for _, args := range [][]string{{"list", "--out", "runs", "--all"}, {"report", "runs/bad\x1b[2K\nFORGED"}, {"report", "\x1b[2K"}} {
		got := invoke(t, args...)
		wantNothingForged(t, args, got.stdout)
		wantNothingForged(t, args, got.stderr)
	}
	for _, word := range words {
		r.run("forged", "a", 1)
		replaceIn(t, "forged/"+result.SummaryFile, `"verdict":`, `"system": {"status": "kept up", "findings": ["x"]}, "verdict":`)
		forgeFile(t, "forged/"+result.SummaryFile, slices.DeleteFunc(slices.Clone(words), func(w string) bool { return w == word })...)
		got := invoke(t, "report", "forged")
		wantNothingForged(t, []string{word}, got.stderr)
		if got.code != exitBadInput || !strings.Contains(got.stderr, word) {
			t.Errorf("%s: exit code %d and\n%s", word, got.code, got.stderr)
		}
	}
}
