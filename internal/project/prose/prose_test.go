package prose

import (
	"slices"
	"strings"
	"testing"
)

func TestSentences(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
	}{
		{"", nil},
		{"One line\nand its end. Another! (A third?) Yes", []string{
			"One line and its end.", "Another!", "(A third?)", "Yes",
		}},
		{"See e.g. Kafka's\nown. It ends in .go. And p.99 is no end.", []string{
			"See e.g. Kafka's own.", "It ends in .go.", "And p.99 is no end.",
		}},
		{"A paragraph\n\nand another", []string{"A paragraph", "and another"}},
		{"Like this:\n\n\tcode. Code.\n\tmore code\n\nDone.", []string{"Like this:", "Done."}},
		{"Items:\n  - one. Two\n    of it.\n  - three", []string{"Items:", "one.", "Two of it.", "three"}},
		{"# A heading\nText.", []string{"A heading", "Text."}},
	} {
		if got := Sentences(c.text); !slices.Equal(got, c.want) {
			t.Errorf("Sentences(%q) = %q, want %q", c.text, got, c.want)
		}
	}
}

func TestPhrases(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"The client tells it. We tell. It was told.", "tells tells"},
		{"Whoever asks; somebody, Nobody.", "nobody nobody nobody"},
		{"Two, of which one begins anew so many times.", "of which anew so many"},
		{"From files alone. From a file alone, not (alone). Alone it stands.", "alone alone alone"},
		{"It is twice as fast beside ours, besides.", "beside"},
		{"Where no broker answers, it ends. Where it is. It is where the file is, there.", "Where"},
	} {
		var got []string
		for i, n := range Count(c.text).Phrases {
			for range n {
				got = append(got, Phrases[i].Name)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%q has %q, want %q", c.text, got, c.want)
		}
	}
}

func TestCountAndAdd(t *testing.T) {
	at := strings.Repeat("word ", MaxWords-1) + "end. "
	text := Count("A " + at + "B" + at[4:])
	if text.Words != 2*MaxWords+1 || text.Sentences != 2 || text.Long != 1 {
		t.Errorf("%+v, want 51 words in 2 sentences, one of them long", text)
	}
	sum := Count("")
	sum.Add(text)
	sum.Add(Count("Nobody tells."))
	if sum.Words != 2*MaxWords+3 || sum.Sentences != 3 || sum.Long != 1 || sum.Phrases[0] != 1 || sum.Phrases[1] != 1 {
		t.Errorf("the sum is %+v", sum)
	}
}
