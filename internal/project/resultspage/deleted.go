package main

import (
	"slices"

	"kafkabench.example/kafka-bench/internal/result"
)

// deletedVariants were recorded and can no longer be run. The page leaves them out.
var deletedVariants = map[string][]string{"backpressure-processes": {"demand", "demand-uneven"}}

// withoutDeleted removes the deleted variants and their runs from a recorded campaign of a preset.
func withoutDeleted(preset string, c *result.RecordedCampaign) {
	if deletedVariants[preset] == nil {
		return // its further runs stay
	}
	kept := make(map[int]int) // the new index of each cell that stays
	var cells []result.Cell
	for i, cell := range c.Campaign.Cells {
		if !slices.Contains(deletedVariants[preset], valueOf(cell)) {
			kept[i] = len(cells)
			cells = append(cells, cell)
		}
	}
	var planned []result.CampaignRun
	var runs []*result.Recorded
	for i, run := range c.Campaign.Runs {
		if at, stays := kept[run.Cell]; stays {
			run.Cell = at
			planned, runs = append(planned, run), append(runs, c.Runs[i])
		}
	}
	c.Campaign.Cells, c.Campaign.Runs, c.Runs = cells, planned, runs
}
