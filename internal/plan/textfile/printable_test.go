package textfile_test

import (
	"encoding/json"
	"testing"

	"kafkabench.example/kafka-bench/internal/plan/textfile"
)

func TestPrintable(t *testing.T) {
	for text, want := range map[string]string{
		"plain äö 😀": "plain äö 😀", "\x1b[2K": "\ufffd[2K", "a\nb\tc": "a b c", "\u009b31m": "\ufffd31m", "\u202evalid": "\ufffdvalid",
		"\u2066x\u2069": "\ufffdx\ufffd", "a\u2028b": "a\ufffdb", "\x7f": "\ufffd",
	} {
		if got := textfile.Line(text); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
		in, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		var raw, escaped string
		if err := json.Unmarshal(textfile.JSON(in), &escaped); err != nil || textfile.Line(escaped) != escaped {
			t.Errorf("%s is read as %q, %v", in, escaped, err)
		}
		if text[0] < ' ' {
			continue // JSON escapes it
		}
		if err := json.Unmarshal(textfile.JSON([]byte(`"`+textfile.Lines(text)+`"`)), &raw); err == nil && textfile.Line(raw) != raw {
			t.Errorf("%q is read as %q", text, raw)
		}
	}
	if got := string(textfile.JSON([]byte("{\"a\":\n\"\u202e\\\\n\"}"))); got != "{\"a\":\n\"\ufffd\\\\n\"}" {
		t.Errorf("an escaped backslash: %q", got)
	}
}
