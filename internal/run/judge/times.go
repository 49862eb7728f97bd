package judge

import (
	"slices"

	"kafkabench.example/kafka-bench/internal/measure/latency"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
	"kafkabench.example/kafka-bench/internal/result"
)

func (e *Evidence) times(sent snapshot.Sent) map[string]result.Time {
	times := make(map[string]result.Time)
	for m := range latency.Metric(latency.NumMetrics) {
		if d := e.Times.TotalsAmong(m, e.population(m, sent)); d.Count+d.NotEnded > 0 {
			t := result.TimeOf(d)
			if slices.Contains(fromTheSender, m) {
				t.ErrorNs = e.ClockErrorNs
			}
			times[m.String()] = t
		}
	}
	return times
}

// fromTheSender are the times that begin at a record's sender and end at its receiver.
var fromTheSender = []latency.Metric{latency.E2EServiceTime, latency.E2EResponseTime, latency.ProcessedResponseTime}

func (e *Evidence) uncertain(out *result.Run) (fields []string) {
	if len(e.ClocksUnknown) == 0 {
		return nil
	}
	for _, m := range fromTheSender {
		for _, field := range []string{"time." + m.String(), "intervals.time." + m.String()} {
			if _, measured := out.Time[m.String()]; measured && out.Says(field) {
				fields = append(fields, field)
			}
		}
	}
	return fields
}

// population returns the measured records that have a time, or would have one if they had ended
// before the run did. A response time that did not end is at least as long as from the window's end
// to the run's end, because no record was due later.
func (e *Evidence) population(m latency.Metric, sent snapshot.Sent) latency.Population {
	none := latency.Population{Open: latency.NumMetrics}
	of := none
	of.Records = sent.Scheduled - sent.Shed()
	if m != latency.SendServiceTime && m != latency.E2EServiceTime {
		if e.closedLoop() {
			return none
		}
		of.FloorNs = max(0, e.FinishedNs-e.EndNs)
	}
	switch m {
	case latency.SendDelay:
		return of
	case latency.SendServiceTime:
		of.Open = latency.UnackedServiceTime
		return of
	case latency.SendResponseTime:
		of.Open = latency.UnackedResponseTime
		return of
	case latency.ProcessedResponseTime:
		if !e.Works {
			return none
		}
	case latency.E2EServiceTime, latency.E2EResponseTime:
	default:
		return none
	}
	if !e.Stamped {
		return none
	}
	of.Records *= int64(len(e.Groups)) // each group reads every record
	return of
}
