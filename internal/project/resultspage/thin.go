package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"kafkabench.example/kafka-bench/internal/result"
)

var keptOfTimes = []string{"e2e_response_time", "send_response_time"}

// thinned removes the lag of single partitions, and most times: a study has dozens of runs, and the
// repository must stay small.
func thinned(series []byte) ([]byte, error) {
	var b bytes.Buffer
	for line := range bytes.Lines(series) {
		var i result.Interval
		if err := json.Unmarshal(line, &i); err != nil {
			return nil, fmt.Errorf("cannot thin out %s: %w", result.IntervalsFile, err)
		}
		i.LagPartitions, i.BacklogPartition = nil, nil
		for n := range i.LagSamples {
			i.LagSamples[n].Partitions = nil
		}
		i.AckedPartition, i.DeliveredPartition = nil, nil
		maps.DeleteFunc(i.Time, func(metric string,
			_ result.IntervalTime) bool {
			return !slices.Contains(keptOfTimes, metric)
		})
		text, err := json.Marshal(i)
		if err != nil {
			return nil, err
		}
		b.Write(append(text, '\n'))
	}
	return b.Bytes(), nil
}
