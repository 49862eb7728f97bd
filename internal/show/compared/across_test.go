package compared_test

import (
	"bytes"
	"strings"
	"testing"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/show/analysis"
	"kafkabench.example/kafka-bench/internal/show/report"
	"kafkabench.example/kafka-bench/internal/show/showtest"
)

// Clients that name settings differently are compared by Kafka's names.
func TestCompareAcrossClients(t *testing.T) {
	m := showtest.NewMaker(t, 3)
	sets := []analysis.Set{{Label: "theirs"}, {Label: "ours"}}
	for range 2 {
		sets[0].Runs = append(sets[0].Runs, m.Run("theirs", 1, func(r *result.Run) {
			r.Run.Driver = result.Driver{Name: "java", Producer: []result.Setting{
				{Name: "acks", Value: "-1"}, {Name: "linger.ms", Value: "5"}, {Name: "enable.idempotence", Value: "true"}, {Name: "batch.size", Value: "16384"}, {Name: "only.theirs", Value: "1"},
			}}
		}))
		sets[1].Runs = append(sets[1].Runs, m.Run("ours", 1, func(r *result.Run) {
			r.Run.Driver = result.Driver{Name: "franz", Producer: []result.Setting{
				{Name: "RequiredAcks", Value: "all"}, {Name: "ProducerLinger", Value: "5ms"}, {Name: "DisableIdempotentWrite", Value: "false"}, {Name: "ProducerBatchMaxBytes", Value: "65536"},
				{Name: "OnlyOurs", Value: "1"}, {Name: "OnlyOursToo", Value: "2"},
			}}
		}))
	}
	c := compare(t, sets, analysis.CompareOptions{})
	for _, format := range []report.Format{report.AsText, report.AsMarkdown} {
		var b bytes.Buffer
		if err := c.Write(&b, report.Options{Format: format}); err != nil {
			t.Fatal(err)
		}
		got := strings.Join(strings.Fields(strings.ReplaceAll(b.String(), "`", "")), " ")
		for _, want := range []string{"producer setting batch.size", "16384", "65536", "1 of A only and 2 of B only; --format json lists them"} {
			if !strings.Contains(got, want) {
				t.Errorf("no %q in\n%s", want, b.String())
			}
		}
		for _, never := range []string{"acks", "linger.ms", "idempotence", "Only", "only.theirs"} {
			if strings.Contains(got, never) {
				t.Errorf("%q is claimed to differ in\n%s", never, b.String())
			}
		}
	}
	var document bytes.Buffer
	if err := c.Write(&document, report.Options{Format: report.AsJSON}); err != nil || !strings.Contains(document.String(), "producer setting OnlyOursToo") {
		t.Errorf("JSON lists not all, %v", err)
	}
}

// A warning names sets that were made one after the other, and says what to do.
func TestCompareOfBlocks(t *testing.T) {
	m := showtest.NewMaker(t, 3)
	sets := []analysis.Set{{Label: "after/*"}, {Label: "before/*"}}
	for i := range 4 {
		sets[1-i/2].Runs = append(sets[1-i/2].Runs, m.Run("same", 1, nil))
	}
	c := compare(t, sets, analysis.CompareOptions{})
	const want = "B's runs all came before A's: the difference includes any drift of the machine. Run A B A B, or make both in one matrix"
	if len(c.Warnings) != 1 || !strings.HasPrefix(c.Warnings[0], want) {
		t.Errorf("the warnings are %q", c.Warnings)
	}
	got := string(showtest.Written(t, writing(c), report.Options{}))
	if !strings.Contains(got, "  A  after/*\n     same · 2 runs, all valid") {
		t.Errorf("what is compared is not named as it was\n%s", got)
	}
	for _, text := range []string{"Too few runs: 3 more of each would do for these 2 tests together", "Too few runs: 2 more of each would do for this test by itself", "3 figures were tested", "The same in every run"} {
		if !strings.Contains(strings.Join(strings.Fields(got), " "), text) {
			t.Errorf("no %q in\n%s", text, got)
		}
	}
	if strings.Contains(got, "1.000\n") {
		t.Errorf("a p of too few runs in\n%s", got)
	}
}
