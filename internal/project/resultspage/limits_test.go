package main

import (
	"os"
	"strings"
	"testing"
)

func TestLimitsAreThoseOfThePage(t *testing.T) {
	page, err := os.ReadFile("../../../docs/PERFORMANCE.md")
	if err != nil {
		t.Fatal(err)
	}
	table := limitsOf(string(page))
	for _, beginning := range limitRows {
		if !strings.Contains(table, "\n| "+beginning) {
			t.Errorf("docs/PERFORMANCE.md has no row %q any more", beginning)
		}
	}
	if n := strings.Count(table, "\n"); n != 8 {
		t.Errorf("the table has %d rows after its head, want those of 7 goals:\n%s", n-1, table)
	}
}

func TestNoLimitsWithoutAPage(t *testing.T) {
	if table, err := readLimits(t.TempDir()); table != "" || err != nil {
		t.Errorf("an empty folder has the limits %q (%v)", table, err)
	}
}
