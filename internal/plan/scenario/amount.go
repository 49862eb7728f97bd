package scenario

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"time"

	"kafkabench.example/kafka-bench/internal/plan/unit"
)

// More producers hardly fill faster.
const defaultFillers = 4

// Count returns how many records all producers offer at most in the measured window; 0 is no bound
// by records.
func (l Load) Count() int64 {
	if l.RecordsEach > 0 {
		return l.RecordsEach * int64(l.Producers)
	}
	return l.Records
}

// Bytes returns about how many bytes of values bound the measured window; 0 is no bound.
func (l Load) Bytes() float64 { return max(float64(l.Volume), float64(l.Count())*l.Record.Size.Mean()) }

// Filled reports whether the run fills its topic.
func (s Scenario) Filled() bool {
	return s.Topic.Fill > 0 || s.Topic.FillRecords > 0 || s.Topic.FillRecordsEach > 0
}

// Fillers returns how many producers fill the topic; 0 if none.
func (s Scenario) Fillers() int {
	switch {
	case !s.Filled():
		return 0
	case s.Topic.FillProducers > 0:
		return s.Topic.FillProducers
	}
	return min(max(1, s.Load.Producers), defaultFillers)
}

// FillKey returns the key that makes the run fill its topic.
func (s Scenario) FillKey() string {
	switch {
	case s.Topic.FillRecordsEach > 0:
		return "topic.fill_records_each"
	case s.Topic.FillRecords > 0:
		return "topic.fill_records"
	}
	return "topic.fill"
}

// FillCount returns how many records all fillers write; 0 if the fill is given in bytes, or there
// is none.
func (s Scenario) FillCount() int64 {
	if s.Topic.FillRecordsEach > 0 {
		return s.Topic.FillRecordsEach * int64(s.Fillers())
	}
	return s.Topic.FillRecords
}

// FillBytes returns about how many bytes of values fill the topic.
func (s Scenario) FillBytes() float64 {
	return max(float64(s.Topic.Fill), float64(s.FillCount())*s.Load.Record.Size.Mean())
}

type keyed struct {
	path  string
	there bool
}

func written(all ...keyed) (paths []string) {
	for _, s := range all {
		if s.there {
			paths = append(paths, s.path)
		}
	}
	return paths
}

// At most one of the three ways to give an amount may be set.
func (c *checker) amount(path string, bytes unit.Size, records string, all, each int64, workers int, from string) {
	c.size(path, bytes, 0, maxVolume)
	c.between(records, all, 0, maxRecords)
	eachPath := records + "_each"
	if c.between(eachPath, each, 0, maxRecords) && workers > 0 && each > maxRecords/int64(workers) {
		c.mistake(eachPath, fmt.Sprintf("%d for each of %d producers is too much", each, workers),
			fmt.Sprintf("give at most %d", maxRecords/int64(workers)), from)
	}
	keys := written(keyed{path, bytes != 0}, keyed{records, all != 0}, keyed{eachPath, each != 0})
	for _, key := range keys[min(1, len(keys)):] {
		c.mistake(key, fmt.Sprintf("%s already gives the amount", keys[0]), "leave one of them out", keys[0])
	}
}

func (c *checker) round(l Load) {
	const path = "load.round"
	clients := l.Clients
	if clients == 0 {
		clients = l.Producers
	}
	switch {
	case l.Round == 0 || !c.between(path, int64(l.Round), 0, maxBuffered) || l.Producers < 1 || clients < 1:
	case !l.Rate.IsMax():
		c.mistake(path, fmt.Sprintf("at %s each record is sent at its own time, and none waits for acks", l.Rate),
			"set load.rate to max, or leave load.round out", "load.rate")
	default:
		// as in package send: a producer fills all of its clients, or its part of a shared one
		most := l.MaxBuffered * max(1, clients/l.Producers) / ((l.Producers + clients - 1) / clients)
		if most > 0 && l.Round > most {
			c.mistake(path, fmt.Sprintf("a producer may have %d records in flight, and a round has %d", most, l.Round),
				"make it smaller, or raise load.max_buffered", "load.max_buffered", "load.clients", "load.producers")
		}
	}
}

// longestWindow is the most that an amount makes of a window that the user did not give.
const longestWindow = unit.Duration(time.Hour)

// AmountKey returns the key that bounds the load by an amount; "" if none does.
func (l Load) AmountKey() string {
	return cmp.Or(written(keyed{"load.volume", l.Volume > 0}, keyed{"load.records", l.Records > 0},
		keyed{"load.records_each", l.RecordsEach > 0}, keyed{"", true})...)
}

// Bound returns how many records the load may offer in the measured window, about so many with a
// volume and sizes that differ; 0 is no bound.
func (s Scenario) Bound() int64 { return s.bound(s.Load.Record.Size.Mean()) }

// liftWindow makes the measured window long enough for an amount that the user gave, since who
// gives one expects all of it to be sent. A window that the user gave, too, holds.
func (d *decoder) liftWindow(s *Scenario) {
	key := s.Load.AmountKey()
	at, given := d.places[key]
	window, givenToo := d.places["phases.measure"]
	if !given || strings.HasPrefix(at.file, presetPrefix) || givenToo && !strings.HasPrefix(window.file, presetPrefix) {
		return
	}
	s.Phases.Measure = max(s.Phases.Measure, min(longestWindow, s.forAmount()))
}

// forAmount is 0 if the arrivals' shape depends on the window.
func (s Scenario) forAmount() unit.Duration {
	const spare = 1.1 // of random sizes and arrivals
	process := s.Load.Arrival.Process
	switch {
	case s.Load.Rate.IsMax():
		return longestWindow
	case process != "constant" && process != "poisson" || s.Load.Rate.PerSecond() <= 0:
		return 0
	}
	seconds := float64(s.Bound()) / s.Load.Rate.PerSecond()
	if process == "poisson" || s.Load.Volume > 0 {
		seconds *= spare
	}
	return unit.Duration(min(math.Ceil(seconds), time.Duration(longestWindow).Seconds())) * unit.Duration(time.Second)
}
