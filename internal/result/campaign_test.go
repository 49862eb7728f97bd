package result_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/resulttest"
)

func threeRuns() result.Campaign {
	return result.Campaign{
		Campaign: result.CampaignInfo{
			Name: "Sweep, acks", Kind: result.KindRuns, StartedAt: startedAt, Order: "interleaved", Repeat: 2,
			Tool: result.Tool{Version: "test", GoVersion: "go"},
		},
		Axes:  []result.Axis{{Path: "load.acks", Values: []string{"1", "all"}}},
		Cells: []result.Cell{{Name: "a", Values: []string{"1"}, Scenario: resulttest.Settings(map[string]any{"name": "a"})}, {Name: "b", Values: []string{"all"}, Scenario: resulttest.Settings(map[string]any{"name": "b"})}},
		Runs:  []result.CampaignRun{{Cell: 0}, {Cell: 1}, {Cell: 0, Round: 1}},
	}
}

func createCampaign(t *testing.T, out string, c result.Campaign) *result.CampaignWriter {
	t.Helper()
	w, err := result.CreateCampaign(out, c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	return w
}

func finishedRun(t *testing.T, out, name string) string {
	t.Helper()
	w, err := result.Create(out, name, startedAt)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Finish(result.Run{Verdict: result.Verdict{Status: result.Valid}}); err != nil {
		t.Fatal(err)
	}
	return w.Dir()
}

func TestNotesOfRuns(t *testing.T) {
	out := filepath.Join(t.TempDir(), "runs")
	c := threeRuns()
	w := createCampaign(t, out, c)
	for i := range 3 {
		dir := finishedRun(t, out, fmt.Sprint("run", i))
		missing := []string{result.EventsFile}
		if i == 1 {
			missing = append(missing, result.IntervalsFile)
		}
		for _, file := range missing {
			if err := os.Remove(filepath.Join(dir, file)); err != nil {
				t.Fatal(err)
			}
		}
		c.Runs[i].Dir, c.Runs[i].Status = result.Beside(dir), result.Valid
	}
	if err := w.Save(c); err != nil {
		t.Fatal(err)
	}
	got, err := result.ReadCampaign(w.Dir())
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"3 runs: events.ndjson is missing", got.Runs[1].Dir + ": intervals.ndjson is missing"}
	if !slices.Equal(got.Notes, want) {
		t.Errorf("notes %q, want %q", got.Notes, want)
	}
}

func TestCampaignRoundTrip(t *testing.T) {
	out := filepath.Join(t.TempDir(), "runs")
	c := threeRuns()
	w := createCampaign(t, out, c)
	if base := filepath.Base(w.Dir()); !strings.HasPrefix(base, "20261121T195900Z-sweep-acks-") || !strings.HasSuffix(base, w.ID()) {
		t.Errorf("the folder is %s", base)
	}
	gone := finishedRun(t, out, "gone")
	if err := os.RemoveAll(gone); err != nil {
		t.Fatal(err)
	}
	c.Runs[0].Dir, c.Runs[0].Status = result.Beside(finishedRun(t, out, "a")), result.Valid
	c.Runs[1].Dir, c.Runs[1].Status = result.Beside(gone), result.Valid
	if err := w.Save(c); err != nil {
		t.Fatal(err)
	}
	got, err := result.ReadCampaign(w.Dir())
	if err != nil {
		t.Fatal(err)
	}
	c.SchemaVersion, c.Campaign.ID = result.SchemaVersion, w.ID()
	if !reflect.DeepEqual(got.Campaign, c) {
		t.Errorf("read\n%+v, want\n%+v", got.Campaign, c)
	}
	if got.Runs[0] == nil || got.Runs[0].Run.Run.Name != "a" || got.Runs[1] != nil || got.Runs[2] != nil {
		t.Errorf("the runs are %+v", got.Runs)
	}
	if len(got.Notes) != 1 || !strings.Contains(got.Notes[0], "run 2 of 3 cannot be read") {
		t.Errorf("notes %q", got.Notes)
	}
	if of := got.Of(0); len(of) != 1 || of[0] != got.Runs[0] || len(got.Of(1)) != 0 {
		t.Errorf("cell 0 has %d runs, cell 1 has %d", len(of), len(got.Of(1)))
	}
	if got.Campaign.Made() != 2 || got.Campaign.Finished() {
		t.Errorf("%d made, finished: %v", got.Campaign.Made(), got.Campaign.Finished())
	}
}

func TestListsOfRunsAndCampaigns(t *testing.T) {
	out := t.TempDir()
	run := finishedRun(t, out, "run")
	w := createCampaign(t, out, threeRuns())
	broken := createCampaign(t, out, threeRuns())
	if err := os.WriteFile(filepath.Join(broken.Dir(), result.CampaignFile), []byte("{\n oops"), 0o644); err != nil {
		t.Fatal(err)
	}
	runs, err := result.List(out)
	if err != nil || len(runs) != 1 || runs[0].Dir != run || runs[0].Err != nil {
		t.Errorf("the runs are %+v, %v", runs, err)
	}
	campaigns, err := result.ListCampaigns(out)
	if err != nil || len(campaigns) != 2 {
		t.Fatalf("the campaigns are %+v, %v", campaigns, err)
	}
	for _, c := range campaigns {
		if (c.Err != nil) != (c.Dir == broken.Dir()) || c.Dir == w.Dir() && c.Campaign.Campaign.ID != w.ID() {
			t.Errorf("listed %+v", c)
		}
	}
}

func TestReadCampaignSaysWhatIsBroken(t *testing.T) {
	for name, c := range map[string]struct {
		content string
		want    []string
	}{
		"newer schema":       {`{"schema_version": 2, "runs": 5}`, []string{"campaign.json", "schema_version 2", "reads up to 1"}},
		"not ours":           {`{"name": "x"}`, []string{"campaign.json", "was not written by kafka-bench"}},
		"no JSON":            {"{\n\"schema_version\": 1,\n oops", []string{"campaign.json:3", "invalid character"}},
		"a wrong type":       {"{\n\"schema_version\": 1,\n\"runs\": 5}", []string{"campaign.json:3", "runs"}},
		"a cell that is not": {`{"schema_version": 1, "cells": [{"name": "a"}], "runs": [{"cell": 0}, {"cell": 1}]}`, []string{"run 2 is of cell 1, and there are 1"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := createCampaign(t, t.TempDir(), threeRuns())
			if err := os.WriteFile(filepath.Join(w.Dir(), result.CampaignFile), []byte(c.content), 0o644); err != nil {
				t.Fatal(err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			_, err := result.ReadCampaign(w.Dir())
			_, _, openErr := result.OpenCampaign(w.Dir())
			for _, want := range c.want {
				if err == nil || !strings.Contains(err.Error(), want) || openErr == nil || !strings.Contains(openErr.Error(), want) {
					t.Errorf("errors %v and %v do not say %q", err, openErr, want)
				}
			}
		})
	}
	run := finishedRun(t, t.TempDir(), "run")
	if _, _, err := result.OpenCampaign(run); !errors.Is(err, result.ErrNotACampaign) {
		t.Errorf("a run's folder: %v", err)
	}
	if files := filesIn(t, run); slices.Contains(files, ".lock") {
		t.Errorf("the run's folder has now %v", files)
	}
}

func filesIn(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// The lock of a killed process does not block others.
func TestCampaignLock(t *testing.T) {
	w := createCampaign(t, t.TempDir(), threeRuns())
	if _, _, err := result.OpenCampaign(w.Dir()); !errors.Is(err, result.ErrCampaignBusy) {
		t.Errorf("a second one: %v", err)
	}
	if err := errors.Join(w.Close(), w.Close()); err != nil {
		t.Fatal(err)
	}
	if files := filesIn(t, w.Dir()); !slices.Equal(files, []string{result.CampaignFile}) {
		t.Errorf("the folder has %v", files)
	}
	if err := os.WriteFile(filepath.Join(w.Dir(), ".lock"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	again, c, err := result.OpenCampaign(w.Dir())
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if again.ID() != w.ID() || len(c.Runs) != 3 {
		t.Errorf("opened %s with %d runs", again.ID(), len(c.Runs))
	}
}

func TestDiscardedCampaign(t *testing.T) {
	for _, others := range []bool{false, true} {
		out := filepath.Join(t.TempDir(), "runs")
		w := createCampaign(t, out, threeRuns())
		if others {
			finishedRun(t, out, "run")
		}
		if err := w.Discard(); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(w.Dir()); err == nil {
			t.Error("the campaign is still there")
		}
		if _, err := os.Stat(out); (err == nil) != others {
			t.Errorf("with other runs %v, the folder is there: %v", others, err == nil)
		}
	}
}

func TestSavedCampaignsFollowTheSchema(t *testing.T) {
	var full result.Campaign
	populate(reflect.ValueOf(&full).Elem())
	full.Campaign.Kind, full.Campaign.Order, full.Runs[0].Status = result.KindSearch, "blocked", result.Interrupted
	full.Search.Limit, full.Search.Probes[0].Phase, full.Search.Probes[0].Limit = "tool", "bisect", "kafka"
	minimal := result.Campaign{Campaign: result.CampaignInfo{Kind: result.KindPeers, Order: "interleaved"}, Search: &result.Search{}}
	for name, c := range map[string]result.Campaign{"full": full, "minimal": minimal, "planned": threeRuns()} {
		w := createCampaign(t, t.TempDir(), c)
		b, err := os.ReadFile(filepath.Join(w.Dir(), result.CampaignFile))
		if err != nil {
			t.Fatal(err)
		}
		schema := compile(t, "campaign.schema.json")
		if err := validate(t, schema, b); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		bad := strings.Replace(string(b), `"order": "`, `"order": "un`, 1)
		if validate(t, schema, []byte(bad)) == nil {
			t.Errorf("%s: no complaint of an order that there is not", name)
		}
	}
}
