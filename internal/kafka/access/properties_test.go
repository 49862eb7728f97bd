package access

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestProperties(t *testing.T) {
	tests := map[string]string{
		"a=b": "1 a=b", "a = b": "1 a=b", "a:b": "1 a=b", "a b": "1 a=b", "a": "1 a=", "  a\t:\tb ": "1 a=b ",
		"a==b": "1 a==b", "a = = b": "1 a== b", `a\=b=c`: "1 a=b=c", `a\ b c`: "1 a b=c",
		"# no\n! no\n\na=b": "4 a=b", `a=b\` + "\n   c\nd=e": "1 a=bc|3 d=e", `a=b\\` + "\nc=d": `1 a=b\|2 c=d`,
		`# no\` + "\na=b": "2 a=b", `a=\` + "\n# b": "1 a=# b", `a=b\`: "1 a=b", "a=b\r\nc=d\re=f": "1 a=b|2 c=d|3 e=f",
		`a=\t\n\u00e4\z\\`: "1 a=\t\nä" + `z\`, `a=\ud83d\ude00`: "1 a=😀", "a=\xe4": "1 a=ä",
		`a=\u00`: "1 !", "ok=1\n" + `a=\uzzzz` + "\nb=2": "1 ok=1|2 !|3 b=2", "": "", `\`: "1 =",
		"\xef\xbb\xbfa=ä": "1 a=ä", "\xff\xfea\x00=\x00\xe4\x00\r\x00\n\x00b\x00": "1 a=ä|2 b=", "\xfe\xff\x00a\x00=\x00b": "1 a=b",
		"a\x00=\x00b\x00": "1 !", "a=1\nb=\x00": "2 !",
	}
	for text, want := range tests {
		var got []string
		all := properties([]byte(text), func(line int, _ error) { got = append(got, fmt.Sprintf("%d !", line)) })
		for _, p := range all {
			got = append(got, fmt.Sprintf("%d %s=%s", p.line, p.key, p.value))
		}
		slices.Sort(got)
		if strings.Join(got, "|") != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

func TestPropertiesRoundTrip(t *testing.T) {
	write := func(text string) string {
		var b strings.Builder
		for _, r := range text {
			switch {
			case strings.ContainsRune(`=: \#!`, r):
				b.WriteString(`\` + string(r))
			case r >= 0x20 && r < 0x7f:
				b.WriteRune(r)
			case r <= 0xffff:
				fmt.Fprintf(&b, `\u%04x`, r)
			}
		}
		return b.String()
	}
	text := rapid.Custom(func(t *rapid.T) string {
		return strings.Map(func(r rune) rune {
			if r > 0xffff || r >= 0xd800 && r < 0xe000 {
				return -1
			}
			return r
		}, rapid.String().Draw(t, "text"))
	})
	rapid.Check(t, func(t *rapid.T) {
		key, value := "k"+text.Draw(t, "key"), text.Draw(t, "value")
		all := properties([]byte(write(key)+" = "+write(value)), func(int, error) { t.Fatal("refused") })
		if len(all) != 1 || all[0].key != key || all[0].value != value {
			t.Fatalf("%q = %q came back as %+v", key, value, all)
		}
	})
}

func TestJAAS(t *testing.T) {
	const m = scramModule
	entry, err := parseJAAS(m + ` Required` + "\n" + ` username=alice password = "a\"b;= 'c" x='y';`)
	if err != nil || entry.module != m || entry.options["username"] != "alice" || entry.options["password"] != `a"b;= 'c` || entry.options["x"] != "y" {
		t.Errorf("%+v, %v", entry, err)
	}
	for text, want := range map[string]error{
		"":                                errEnd,
		m + ` required password="x"`:      errEnd,
		m + ` required password="x`:       errQuote,
		m + ` required a=b; ` + m:         errMore,
		m + ` password="x";`:              errEntry,
		m + ` required password "x";`:     errEntry,
		m + ` required password=;`:        errEntry,
		m + ` required a=b a=c;`:          errTwice,
		m + `;`:                           errEntry,
		m + ` sometimes password="x";`:    errEntry,
		m + ` required "password"="x" y;`: errEntry,
	} {
		if _, err := parseJAAS(text); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", text, err, want)
		}
	}
}
