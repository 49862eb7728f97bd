package textfile_test

import (
	"errors"
	"testing"

	"kafkabench.example/kafka-bench/internal/plan/textfile"
)

func TestDecode(t *testing.T) {
	for content, want := range map[string]string{
		"":                                      "",
		"a\xe4":                                 "a\xe4", // unmarked text is left as it is
		"\xef\xbb\xbfaä":                        "aä",
		"\xff\xfea\x00\xe4\x00\n\x00":           "aä\n",
		"\xfe\xff\x00a\x00\xe4\xd8\x3d\xde\x00": "aä😀",
		"\xff\xfea\x00b":                        "a�", // cut within a character
	} {
		got, marked, err := textfile.Decode([]byte(content))
		if err != nil || string(got) != want || marked != (content != want) {
			t.Errorf("%q is %q, marked %v, %v; want %q", content, got, marked, err, want)
		}
	}
	for content, line := range map[string]int{"a\x00\n\x00": 1, "ab\ncd\x00": 2, "\xff\xfe\x00\x00a\x00\x00\x00": 1} {
		_, _, err := textfile.Decode([]byte(content))
		if nul := new(textfile.NULError); !errors.As(err, &nul) || nul.Line != line {
			t.Errorf("%q: %v, want a NUL byte in line %d", content, err, line)
		}
	}
}
