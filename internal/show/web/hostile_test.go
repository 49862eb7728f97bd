//go:build unix

package web

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/resulttest"
)

// Folders of strangers neither hang the server nor hide other runs.
func TestHostileRunsHideNoOther(t *testing.T) {
	s := newShelf(t)
	good := s.record("good", 0)
	runs, bad := []string{good}, map[string]string{} // → what is said of the folder
	minutes := 0
	for kind, hostile := range resulttest.Hostile() {
		for _, file := range []string{result.SummaryFile, result.CampaignFile, result.IntervalsFile} {
			minutes++
			folder := s.record("bad", minutes)
			if file == result.CampaignFile { // the folder is a campaign's
				if err := resulttest.Replace(filepath.Join(s.dir, folder), result.SummaryFile, func(string) error { return nil }); err != nil {
					t.Fatal(err)
				}
			}
			if err := resulttest.Replace(filepath.Join(s.dir, folder), file, hostile); err != nil {
				t.Fatalf("%s %s: %v", kind, file, err)
			}
			runs, bad[folder] = append(runs, folder), file
		}
	}
	s.campaign("c", "c", runs...)
	h := s.open().Handler()
	list := get(h, "/?all=1")
	if list.Code != http.StatusOK || !strings.Contains(list.Body.String(), good) {
		t.Errorf("the list: %d\n%.300s", list.Code, list.Body)
	}
	for folder, file := range bad {
		address := "/runs/" + folder
		if file == result.CampaignFile {
			address = "/campaigns/" + folder
		}
		if w := get(h, address); w.Code < 400 || !strings.Contains(w.Body.String(), file) || w.Body.Len() > 20_000 {
			t.Errorf("%s: %d\n%.600s", folder, w.Code, w.Body)
		}
	}
	for address, want := range map[string]string{"/runs/" + good: "good", "/campaigns/c": "cannot be read"} {
		if w := get(h, address); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: %d\n%.300s", address, w.Code, w.Body)
		}
	}
}
