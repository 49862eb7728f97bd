package chart

import (
	"fmt"
	"slices"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/show/draw"
)

// timeline draws the rates of a run, and below them the time that users experience. For several
// runs, it draws the acked and delivered rates and the p99.
func timeline(in Input) (draw.Spec, error) {
	s, err := in.over()
	if err != nil {
		return draw.Spec{}, err
	}
	var ps panels
	metric, title := timeOf(s.runs), "Rates"
	if s.alone() {
		ps.add(panelOf(draw.Free("records/s", draw.Linear, perS), s.runs[0],
			call{"offered", scheduled}, call{"acked", acked}, call{"delivered", delivered}))
		err = ps.need(timesOver(s.runs[0], metric))
	} else {
		ps.add(sideBySide(draw.Free("acked/s", draw.Linear, perS), s.runs, acked.each))
		ps.add(sideBySide(draw.Free("delivered/s", draw.Linear, perS), s.runs, delivered.each))
		err = ps.need(sideBySide(draw.Free(inWords(metric)+" p99", draw.Linear, nanos), s.runs, p99(metric).each))
	}
	if err == nil {
		title += " and " + inWords(metric)
	}
	return ps.spec(s, title, fmt.Sprintf("%s of %s over time.", title, s.said()))
}

func timesOver(r named, metric string) (draw.Panel, []string, error) {
	return panelOf(draw.Free(inWords(metric), draw.Log, nanos), r,
		call{"p50", p50(metric)}, call{"p99", p99(metric)}, call{"max", highestTime(metric)})
}

// shownTimes are in the order of preference. A closed loop has no response times, and a run without
// consumers no end-to-end times.
var shownTimes = []string{"e2e_response_time", "e2e_service_time", "send_response_time", "send_service_time"}

func timeOf(runs []named) string {
	return firstTime(runs, func(r named, metric string) bool {
		return p99(metric).missing(r) == "" && slices.ContainsFunc(r.Intervals,
			func(i result.Interval) bool { return i.Time[metric].Count > 0 })
	})
}

// firstTime is the first of shownTimes that the most runs have.
func firstTime(runs []named, has func(named, string) bool) string {
	first, most := shownTimes[0], 0
	for _, metric := range shownTimes {
		n := 0
		for _, r := range runs {
			if has(r, metric) {
				n++
			}
		}
		if n > most {
			first, most = metric, n
		}
	}
	return first
}

func age(in Input) (draw.Spec, error) {
	s, err := in.over()
	if err != nil {
		return draw.Spec{}, err
	}
	var ps panels
	ages := draw.Free("age", draw.Linear, nanos)
	if s.alone() {
		r, calls := s.runs[0], []call{{"time lag", timeLag}}
		if r.Run.Queue != nil {
			calls = append(calls, call{"oldest unacknowledged", unacked})
		}
		ps.add(panelOf(ages, r, calls...))
	} else {
		ages.Label = "time lag"
		ps.add(sideBySide(ages, s.runs, timeLag.each))
		if slices.ContainsFunc(s.runs, func(r named) bool { return r.Run.Queue != nil }) {
			ages.Label = "oldest unacknowledged"
			ps.add(sideBySide(ages, s.runs, unacked.each))
		}
	}
	alt := fmt.Sprintf("Age of the oldest record of %s that had not ended, at the end of each interval.", s.said())
	return ps.spec(s, "Age of the oldest open record", alt)
}
