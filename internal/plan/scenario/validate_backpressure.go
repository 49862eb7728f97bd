package scenario

import (
	"fmt"
	"time"

	"kafkabench.example/kafka-bench/internal/plan/unit"
)

// Polls do not resolve times below a millisecond.
const (
	minTarget = unit.Duration(time.Millisecond)
	maxTarget = unit.Duration(time.Hour)
)

func (c *checker) backpressure(s Scenario) {
	const path = "backpressure"
	b := s.Backpressure
	c.choice(path+".controller", b.Controller, controllers)
	c.choice(path+".signal", b.Signal, signals)
	c.choice(path+".blind", b.Blind, blindnesses)
	polls := c.duration(path+".poll", b.Poll, unit.Duration(time.Millisecond), unit.Duration(time.Minute))
	if c.duration(path+".grace", b.Grace, unit.Duration(time.Millisecond), unit.Duration(time.Hour)) && polls &&
		b.Grace < b.Poll {
		c.mistake(path+".grace", fmt.Sprintf("%s is over before the next reading, after %s", b.Grace, b.Poll),
			"give at least backpressure.poll", path+".poll")
	}
	c.excess(b)
	if b.Controller == "off" {
		return
	}
	c.limits(b)
	c.pooled(s)
	if s.Consume.Consumers == 0 {
		c.mistake(path, "without consumers there is no lag to go by", "set backpressure: off, or consume.consumers",
			"consume.consumers")
	}
	if s.Consume.Assignment == "manual" {
		c.mistake(path, "manually assigned consumers commit nothing, so there is no lag to go by",
			"set backpressure: off, or consume.assignment: group", "consume.assignment")
	}
}

func (c *checker) excess(b Backpressure) {
	const path = "backpressure"
	c.choice(path+".excess", b.Excess, excesses)
	c.between(path+".max_deferred", b.MaxDeferred, 1, maxRecords)
	switch {
	case b.Excess == "degrade":
		c.between(path+".keep", b.Keep, 1, maxKeep)
	case b.Keep != 0:
		c.mistake(path+".keep", fmt.Sprintf("excess %s keeps no part of the records", b.Excess),
			"leave it out, or choose degrade", path+".excess")
	}
}

func (c *checker) limits(b Backpressure) {
	const path = "backpressure"
	switch b.Controller {
	case "hysteresis":
		c.hysteresis(b)
	case "credit":
		if b.MaxLag == 0 {
			c.mistake(path+".max_lag", "credit needs the lag that is never to be exceeded",
				"give max_lag in records, as in 5000", path+".controller")
		} else {
			c.between(path+".max_lag", b.MaxLag, 1, maxRecords)
		}
	case "latency", "aimd", "gradient":
		c.between(path+".max_lag", b.MaxLag, 0, maxRecords)
	default:
		return // already reported as unknown
	}
	if b.Controller != "hysteresis" && b.ResumeLag != 0 {
		c.mistake(path+".resume_lag", b.Controller+" does not close and open by two lags",
			"leave it out, or choose hysteresis", path+".controller")
	}
	c.target(b)
}

func (c *checker) target(b Backpressure) {
	const path = "backpressure.target"
	holds := b.Controller == "latency" || b.Controller == "aimd"
	switch {
	case !holds && b.Target != 0:
		c.mistake(path, b.Controller+" has no target", "leave it out, or choose latency or aimd",
			"backpressure.controller")
	case holds && b.Target == 0:
		c.mistake(path, "latency needs a target time", "give a time, as in 250ms",
			"backpressure.controller")
	case holds:
		c.duration(path, b.Target, minTarget, maxTarget)
	}
}

func (c *checker) pooled(s Scenario) {
	const path = "backpressure"
	b := s.Backpressure
	if b.MaxLag > 0 && b.MaxLag < int64(s.Load.Processes) {
		c.mistake(path+".max_lag", fmt.Sprintf("%d records divided by %d processes is no record for some of them",
			b.MaxLag, s.Load.Processes),
			fmt.Sprintf("give at least %d", s.Load.Processes), "load.processes")
	}
}

func (c *checker) hysteresis(b Backpressure) {
	const path = "backpressure"
	if b.MaxLag == 0 {
		c.mistake(path+".max_lag", "hysteresis needs a lag above which the gate closes",
			"give max_lag in records, as in 20000")
		return
	}
	if !c.between(path+".max_lag", b.MaxLag, 2, maxRecords) {
		return
	}
	if c.between(path+".resume_lag", b.ResumeLag, 1, maxRecords) && b.ResumeLag >= b.MaxLag {
		c.mistake(path+".resume_lag", fmt.Sprintf("%d is not below max_lag, %d", b.ResumeLag, b.MaxLag),
			"give less, or leave it out for half of max_lag", path+".max_lag")
	}
}
