package main

import (
	"testing"

	"kafkabench.example/kafka-bench/internal/result"
)

func TestDeletedVariantsAreLeftOut(t *testing.T) {
	c := &result.RecordedCampaign{Runs: []*result.Recorded{{Dir: "a"}, {Dir: "b"}, {Dir: "c"}}}
	for i, name := range []string{"off", "demand", "static"} {
		c.Campaign.Cells = append(c.Campaign.Cells, result.Cell{Name: name, Values: []string{name}})
		c.Campaign.Runs = append(c.Campaign.Runs, result.CampaignRun{Cell: i})
	}
	withoutDeleted("backpressure-processes", c)
	if len(c.Campaign.Cells) != 2 || len(c.Of(0)) != 1 || len(c.Of(1)) != 1 || c.Of(1)[0].Dir != "c" {
		t.Errorf("%+v of %+v", c.Campaign, c.Runs)
	}
}
