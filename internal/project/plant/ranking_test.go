package plant_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/lagcontrol"
	"kafkabench.example/kafka-bench/internal/project/plant"
)

var update = flag.Bool("update", false, "write the golden table under testdata anew")

func run(t testing.TB, config plant.Config, make func() (lagcontrol.Controller, error)) plant.Result {
	t.Helper()
	config.NewController = make
	r, err := plant.Run(config)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func utilisation(r, off plant.Result) float64 {
	return float64(r.Delivered) / float64(off.Delivered)
}

// The docs quote this table. It is compared only on the architecture where it was made, because
// others round sums of products differently.
func TestRanking(t *testing.T) {
	golden, compared := filepath.Join("testdata", "ranking.md"), some(cases...)
	if *update {
		compared = cases
	}
	text := "<!-- Written by go test ./internal/project/plant -run TestRanking -update -->\n"
	for _, c := range compared {
		text += ranking(t, c)
	}
	if *update {
		if err := os.WriteFile(golden, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	content, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	want := string(content)
	if len(compared) < len(cases) {
		want = want[:min(len(want), len(text))]
	}
	if runtime.GOARCH == "amd64" && want != text {
		t.Errorf("the tables are no longer those in %s; -update writes it anew:\n%s", golden, text)
	}
}

func ranking(t *testing.T, c example) string {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "\n**%s**\n\n", c.name)
	b.WriteString("| controller | bound (records) | peak lag (records) | peak ÷ 5,000 | utilisation | e2e p50 | e2e p99 | shed | settling | fairness |\n")
	b.WriteString("|---|---|---|---|---|---|---|---|---|---|\n")
	off := run(t, c.config, kinds[0].make)
	for _, k := range kinds {
		r := off
		if k.name != "off" {
			r = run(t, c.config, k.make)
		}
		fmt.Fprintf(&b, "| %s | %s | %d | %.2f | %.3f | %s | %s | %.1f %% | %s | %.3f |\n", k.name, bounds(r),
			r.PeakLag, r.Overshoot, utilisation(r, off), millis(r.E2EP50), millis(r.E2EP99),
			100*float64(r.Shed)/float64(r.Offered), settled(r.Settling), r.Fairness)
	}
	return b.String()
}

func bounds(r plant.Result) string {
	switch r.BoundMin {
	case lagcontrol.Unlimited:
		return "–"
	case r.BoundMax:
		return fmt.Sprint(r.BoundMin)
	}
	return fmt.Sprintf("%d to %d", r.BoundMin, r.BoundMax)
}

func millis(d time.Duration) string { return fmt.Sprintf("%d ms", d.Milliseconds()) }

func settled(all []time.Duration) string {
	if len(all) == 0 {
		return "–"
	}
	var words []string
	for _, d := range all {
		if d < 0 {
			words = append(words, "never")
			continue
		}
		words = append(words, fmt.Sprintf("%.2f s", d.Seconds()))
	}
	return strings.Join(words, ", ")
}
