package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/resulttest"
)

func shellWords(fields []string) (words []string) {
	quoted := false
	for _, field := range fields {
		text := strings.Trim(field, "'")
		if quoted {
			words[len(words)-1] += " " + text
		} else {
			words = append(words, text)
		}
		if strings.Count(field, "'")%2 == 1 {
			quoted = !quoted
		}
	}
	return words
}

type recorder struct {
	t      *testing.T
	base   []byte
	random *rand.Rand
	made   int
}

var baseline = sync.OnceValues(func() ([]byte, error) { return json.Marshal(resulttest.Baseline().Run().Run) })

func newRecorder(t *testing.T) *recorder {
	t.Helper()
	base, err := baseline()
	if err != nil {
		t.Fatal(err)
	}
	return &recorder{t: t, base: base, random: rand.New(rand.NewPCG(1, 2))}
}

func (r *recorder) run(dir, name string, slower float64) {
	r.t.Helper()
	var run result.Run
	if err := json.Unmarshal(r.base, &run); err != nil {
		r.t.Fatal(err)
	}
	r.made++
	run.Run.ID, run.Run.Name = fmt.Sprintf("m%05d", r.made), name
	run.Run.StartedAt = run.Run.StartedAt.Add(time.Duration(r.made) * time.Minute)
	t := run.Time["e2e_response_time"]
	t.P99Ns = int64(float64(t.P99Ns) * slower * (1 + 0.01*r.random.NormFloat64()))
	run.Time["e2e_response_time"] = t
	r.write(filepath.Join(dir, result.SummaryFile), run)
}

func (r *recorder) campaign(dir string) {
	r.t.Helper()
	c := result.Campaign{
		SchemaVersion: 1, Axes: []result.Axis{{Path: "load.acks", Values: []string{"1", "all"}}},
		Cells:    []result.Cell{{Name: "sweep-acks-1", Values: []string{"1"}}, {Name: "sweep-acks-all", Values: []string{"all"}}},
		Campaign: result.CampaignInfo{ID: "k3x7qa", Name: "sweep-acks", Kind: result.KindRuns, StartedAt: resulttest.StartedAt, FinishedAt: resulttest.StartedAt, Order: "interleaved", Repeat: 5},
	}
	for round := range 5 {
		for cell, slower := range []float64{1, 1.5} {
			name := fmt.Sprintf("sweep-run-%d-%d", cell, round)
			r.run(filepath.Join(filepath.Dir(dir), name), c.Cells[cell].Name, slower)
			c.Runs = append(c.Runs, result.CampaignRun{Cell: cell, Round: round, Dir: "../" + name, Status: result.Valid})
		}
	}
	r.write(filepath.Join(dir, result.CampaignFile), c)
}

func (r *recorder) write(path string, v any) {
	r.t.Helper()
	text, err := json.Marshal(v)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o755)
	}
	if err == nil {
		err = os.WriteFile(path, text, 0o644)
	}
	if err != nil {
		r.t.Fatal(err)
	}
}

func prepareRecorded(t *testing.T, args []string) {
	t.Helper()
	r := newRecorder(t)
	switch args[0] {
	case "compare":
		for i := range 5 {
			r.run(fmt.Sprintf("runs/before-%d", i+1), "before", 1)
			r.run(fmt.Sprintf("runs/after-%d", i+1), "after", 1)
		}
	case "chart":
		for _, arg := range args {
			if strings.Contains(arg, "-sweep-") {
				r.campaign(arg)
			}
		}
	case "history":
		for i := range 5 {
			r.run(fmt.Sprintf("runs/baseline-%d", i+1), "baseline", 1)
		}
	}
}
