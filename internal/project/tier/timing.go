package main

import (
	"strings"
	"time"
)

type timing struct {
	name   string
	took   time.Duration
	failed bool
}

func parse(line string) (t timing, ok bool) {
	fields := strings.Fields(line)
	if len(fields) < 3 || fields[0] != "ok" && fields[0] != "FAIL" {
		return timing{}, false
	}
	took, err := time.ParseDuration(fields[2])
	failed := fields[0] == "FAIL" // a package that did not build has no time
	return timing{fields[1], took, failed}, failed || err == nil
}
