package payload

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func inFolder(t *testing.T, name, content string) File {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return File{Within: dir, Path: name, Format: Lines}
}

func prefixed(records ...string) (content string) {
	for _, r := range records {
		content += string(binary.BigEndian.AppendUint32(nil, uint32(len(r)))) + r
	}
	return content
}

func TestReadFile(t *testing.T) {
	for name, c := range map[string]struct{ form, content string }{
		"lines":                       {Lines, "a\nbc\n{}\n"},
		"without an end":              {Lines, "a\nbc\n{}"},
		"of Windows":                  {Lines, "a\r\nbc\r\n{}\r\n"},
		"length-prefixed":             {LengthPrefixed, prefixed("a", "bc", "{}")},
		"length-prefixed, with bytes": {LengthPrefixed, prefixed("\n", "\x00\r", "\xff\n")},
	} {
		t.Run(name, func(t *testing.T) {
			f := inFolder(t, "records", c.content)
			f.Format = c.form
			corpus, err := ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			stats := corpus.File()
			want := []string{"a", "bc", "{}"}
			if strings.HasSuffix(name, "bytes") {
				want = []string{"\n", "\x00\r", "\xff\n"}
			}
			for number := range uint64(7) {
				if got := string(corpus.Value(nil, number, nil)); got != want[number%3] {
					t.Errorf("record %d is %q, want %q", number, got, want[number%3])
				}
			}
			if stats.Records != 3 || stats.Bytes != 5 || stats.Min != 1 || stats.P50 != 2 || stats.P99 != 2 ||
				stats.Max != 2 || stats.Mean() != 5.0/3 {
				t.Errorf("the statistics are %+v", stats)
			}
			f.SHA256 = stats.SHA256
			if _, err := ReadFile(f); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestReadFileErrors(t *testing.T) {
	for name, c := range map[string]struct {
		file File
		want string
	}{
		"empty":             {inFolder(t, "f", ""), "it is empty; give at least one record"},
		"an empty line":     {inFolder(t, "f", "a\n\nb\n"), "record 2: it is empty; a record has at least one byte"},
		"an empty record":   {File{Format: LengthPrefixed}.over(inFolder(t, "f", prefixed("a", ""))), "record 2: it is empty"},
		"cut in a length":   {File{Format: LengthPrefixed}.over(inFolder(t, "f", prefixed("a")+"\x00")), "record 2: 1 bytes are left, and its length has 4"},
		"cut in a record":   {File{Format: LengthPrefixed}.over(inFolder(t, "f", prefixed("a", "bc")[:10])), "record 2: its length is 2 bytes, and 1 are left"},
		"lines as lengths":  {File{Format: LengthPrefixed}.over(inFolder(t, "f", "{\"a\": 1}\n")), "or its format lines?"},
		"other content":     {File{Format: Lines, SHA256: "00"}.over(inFolder(t, "f", "a")), "it is another file, or was changed"},
		"too large":         {inFolder(t, "f", strings.Repeat("a", MaxFileBytes+1)), "it has more than 64 MiB"},
		"a folder":          {File{Format: Lines, Path: t.TempDir()}, "not a regular file"},
		"endless":           {File{Format: Lines, Path: "/dev/zero"}, "not a regular file"},
		"a FIFO":            {fifo(t), "not a regular file"},
		"outside":           {File{Format: Lines, Within: t.TempDir(), Path: "../f"}, "path escapes from parent"},
		"a link that leads": {link(t), "path escapes from parent"},
		"none":              {File{Format: Lines, Within: t.TempDir(), Path: "f"}, "no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := ReadFile(c.file); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v does not say %q", err, c.want)
			}
		})
	}
}

func (f File) over(place File) File {
	f.Within, f.Path = place.Within, place.Path
	return f
}

func fifo(t *testing.T) File {
	t.Helper()
	f := File{Within: t.TempDir(), Path: "fifo", Format: Lines}
	if err := syscall.Mkfifo(filepath.Join(f.Within, f.Path), 0o600); err != nil {
		t.Fatal(err)
	}
	return f
}

func link(t *testing.T) File {
	t.Helper()
	f := File{Within: t.TempDir(), Path: "link", Format: Lines}
	outside := inFolder(t, "f", "a")
	if err := os.Symlink(filepath.Join(outside.Within, outside.Path), filepath.Join(f.Within, f.Path)); err != nil {
		t.Fatal(err)
	}
	return f
}

func TestFileWithHeaderStamps(t *testing.T) {
	corpus, err := ReadFile(inFolder(t, "f", "{\"id\": 1}\n{\"id\": 22}\n"))
	if err != nil {
		t.Fatal(err)
	}
	for number := range uint64(4) {
		var header Header
		corpus.PutHeader(&header, number, &someStamp)
		if got, check := ReadRecord(&header, corpus.Value(nil, number, nil)); got != someStamp || check != Intact {
			t.Errorf("record %d: read %v, %s", number, got, check)
		}
	}
}
