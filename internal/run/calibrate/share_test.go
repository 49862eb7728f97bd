package calibrate

import (
	"errors"
	"testing"

	"pgregory.net/rapid"
)

func TestHighestShare(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		edge := rapid.Float64Range(0, 1).Draw(t, "edge")
		from := rapid.IntRange(0, len(shares)-1).Draw(t, "from")
		halvings := rapid.IntRange(0, 5).Draw(t, "halvings")
		tries := 0
		f, err := highestShare(from, halvings, func(share float64) (bool, error) {
			tries++
			return share <= edge, nil
		})
		switch {
		case err != nil || tries > len(shares)+halvings:
			t.Fatalf("%d tries, and %v", tries, err)
		case edge < shares[len(shares)-1]:
			if f.held != 0 {
				t.Fatalf("nothing holds, and it says %v", f.held)
			}
		case f.held > edge || f.held == 0 || shares[f.at] > f.held:
			t.Fatalf("up to %v holds, and it says %+v", edge, f)
		case edge >= shares[0]:
			if f.failed != 0 {
				t.Fatalf("all that was tried held, and it says that %v did not", f.failed)
			}
		case f.failed <= edge:
			t.Fatalf("%v does not hold, and up to %v does", f.failed, edge)
		case halvings >= 4 && f.failed > f.held*fine:
			t.Fatalf("%d halvings leave %+v", halvings, f)
		case halvings >= 2 && f.held >= 0.25 && f.failed > f.held*1.13:
			t.Fatalf("two halvings leave %+v", f)
		}
	})
}

func TestHighestShareFails(t *testing.T) {
	broken, tries := errors.New("broken"), 0
	_, err := highestShare(0, 2, func(float64) (bool, error) { tries++; return false, broken })
	if !errors.Is(err, broken) || tries != 1 {
		t.Errorf("after %d tries: %v", tries, err)
	}
}
