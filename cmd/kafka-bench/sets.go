package main

import (
	"slices"
	"strings"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/show/analysis"
)

// partsOf splits a set at its commas. The values of a cell, as reports print them, may have commas
// too. So the longest text that names a cell is one part.
func partsOf(arg string) (parts []string) {
	pieces := strings.Split(arg, ",")
	for len(pieces) > 0 {
		taken := 1
		if c, cell, ok := campaignOf(pieces[0]); ok {
			for n := len(pieces); n > 1; n-- {
				longer := strings.Join(append([]string{cell}, pieces[1:n]...), ",")
				if _, err := analysis.CellNamed(&c.Campaign, longer); err == nil {
					taken = n
					break
				}
			}
		}
		parts = append(parts, strings.TrimSpace(strings.Join(pieces[:taken], ",")))
		pieces = pieces[taken:]
	}
	return parts
}

func campaignOf(part string) (c *result.RecordedCampaign, cell string, ok bool) {
	colon := strings.LastIndex(part, ":")
	if colon < 0 || exists(part) {
		return nil, "", false
	}
	c, err := result.ReadCampaign(strings.TrimSpace(part[:colon]))
	return c, part[colon+1:], err == nil
}

func heldBy(dir string) (paths []string) {
	listed, err := result.List(dir)
	if err != nil {
		return nil
	}
	for _, run := range listed {
		paths = append(paths, run.Dir)
	}
	slices.Sort(paths)
	return paths
}
