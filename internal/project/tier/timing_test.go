package main

import (
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	for line, want := range map[string]timing{
		"ok  \texample.com/a\t1.234s":                      {"example.com/a", 1234 * time.Millisecond, false},
		"ok  \texample.com/a\t0.010s\tcoverage: 80% of it": {"example.com/a", 10 * time.Millisecond, false},
		"FAIL\texample.com/a\t2.5s":                        {"example.com/a", 2500 * time.Millisecond, true},
		"ok  \texample.com/a\t(cached)":                    {},
		"FAIL\texample.com/a [build failed]":               {"example.com/a", 0, true},
		"--- FAIL: TestA (0.10s)":                          {},
		"ok that is something else":                        {},
		"?   \texample.com/a\t[no test files]":             {},
	} {
		got, ok := parse(line)
		if ok != (want != timing{}) || ok && got != want {
			t.Errorf("parse(%q) = %v, %v; want %v", line, got, ok, want)
		}
	}
}
