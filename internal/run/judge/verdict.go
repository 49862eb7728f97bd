package judge

import (
	"fmt"
	"math"
	"slices"
	"time"

	"kafkabench.example/kafka-bench/internal/measure/ledger"
	"kafkabench.example/kafka-bench/internal/plan/payload"
	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/plan/textfile"
	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
)

// These bounds belong to the method, so that no scenario can make itself valid.
const (
	// maxLateness bounds the pacer's lateness at p99. Beyond it, the load had another shape.
	maxLateness = 20 * time.Millisecond
	// maxSchedDelay bounds the scheduling delay of goroutines at p99. Beyond it, the tool's stamps
	// show when the tool ran and not when something happened.
	maxSchedDelay = 20 * time.Millisecond
	warnLateness  = 5 * time.Millisecond
	// maxSignalAge is the age of a lag reading above which a gate that uses it gets a warning.
	maxSignalAge = 3 * time.Second
	// nearBound is the part of a bounded load below which the window ended first. A volume of records of different
	// sizes is only about so many.
	nearBound = 0.99
	// warnBusy is the part of all CPU time above which the machine is the limit.
	warnBusy = 0.95
)

// WarnStolen is the part of the CPU time above which a run gets a warning if the hypervisor takes it.
const WarnStolen = 0.02

type verdict struct {
	*Evidence
	out          *result.Run
	unknownTimes error // why the times before, during and after the faults are unknown
}

func (v verdict) give(books []ledger.Books, settled ledger.Books) result.Verdict {
	out := result.Verdict{Status: result.Valid, Reasons: []string{}, Warnings: []string{}}
	for _, a := range v.out.Agents {
		out.Reasons = append(out.Reasons, ofAgent(a, a.Reasons)...)
		out.Warnings = append(out.Warnings, ofAgent(a, a.Warnings)...)
	}
	for _, reasons := range [][]string{
		v.faultsOfTheRun(), v.faultsOfTheBooks(books), v.faultsOfTheQueue(settled),
		unsaid(faultsOfTheTool(v.out), v.out.Agents),
	} {
		out.Reasons = append(out.Reasons, reasons...)
	}
	if len(out.Reasons) > 0 {
		out.Status = result.Invalid
	}
	out.Warnings = append(out.Warnings, v.Warnings...)
	if v.unknownTimes != nil {
		out.Warnings = append(out.Warnings, "the times before, during and after the faults are not known: "+v.unknownTimes.Error())
	}
	for i, b := range books {
		out.Warnings = append(out.Warnings, v.ofGroup(i, b.Reasons)...)
	}
	for _, warnings := range [][]string{
		settled.Reasons, v.warningsOfTheSetup(), v.warningsOfTheRecords(), v.warningsOfTheQueue(), v.warningsOfTheAcks(),
		unsaid(warningsOfTheMachine(v.out), v.out.Agents),
	} {
		out.Warnings = append(out.Warnings, warnings...)
	}
	if v.Caveats != nil {
		out.Warnings = append(out.Warnings, v.Caveats(v.out)...)
	}
	for _, texts := range [][]string{out.Reasons, out.Warnings} { // some quote brokers
		for i, text := range texts {
			texts[i] = textfile.Line(text)
		}
	}
	return out
}

func (v verdict) faultsOfTheRun() (reasons []string) {
	if v.EndNs <= 0 {
		reasons = append(reasons, "the run ended before the measured window began")
	}
	if err := v.Failed.Consumers; err != nil {
		reasons = append(reasons, "a consumer ended before the run did: "+err.Error())
	}
	if err := v.Failed.Producers; err != nil {
		reasons = append(reasons, "a process ended before the run did: "+err.Error())
	}
	if err := v.Failed.Journal; err != nil {
		reasons = append(reasons, "the result is not complete: "+err.Error())
	}
	reasons = append(reasons, v.Faults.NotDone...)
	if v.Expected != nil && math.Abs(float64(v.out.Load.Scheduled)-*v.Expected) > 1 && !v.partMissing() {
		reasons = append(reasons, offSchedule(v.out.Load.Scheduled, *v.Expected))
	}
	switch {
	case !v.sends() && v.out.Delivery.Delivered == 0:
		reasons = append(reasons, "no record was delivered in the measured window")
	case v.sends() && v.out.Load.Scheduled == 0:
		reasons = append(reasons, "no record was scheduled in the measured window")
	}
	return reasons
}

func offSchedule(scheduled int64, expected float64) string {
	return fmt.Sprintf("%s records came due, but the schedule has %s", unit.Count(scheduled), unit.Count(int64(expected)))
}

func (v verdict) faultsOfTheBooks(books []ledger.Books) (reasons []string) {
	if v.Failed.Producers != nil || v.Failed.ConsumersDied || v.partMissing() {
		return nil // without a process's books, nothing balances
	}
	out, l := v.out, v.out.Load
	if waiting := v.Sent.Behind.WaitingRecords; waiting != l.Deferred+out.Warmup.Load.Deferred {
		reasons = append(reasons, fmt.Sprintf("%s records wait at the source, but the books have %s",
			unit.Count(waiting), unit.Count(l.Deferred+out.Warmup.Load.Deferred)))
	}
	for _, l := range []result.Load{l, out.Warmup.Load} {
		if left := l.Admitted - l.Acked - l.Failed - l.Unknown; left != 0 {
			reasons = append(reasons, fmt.Sprintf("the client never reported on %s records", unit.Count(left)))
		}
	}
	for i, b := range books {
		if len(v.Groups) == 0 || !v.Stamped {
			break
		}
		reasons = append(reasons, v.ofGroup(i, b.Measured.Imbalance())...)
		for _, fault := range b.Warmup.Imbalance() {
			reasons = append(reasons, v.ofGroup(i, []string{"warm-up: " + fault})...)
		}
	}
	for _, metric := range result.TimeMetrics {
		if t := out.Time[metric]; t.OutOfRange > 0 {
			reasons = append(reasons, fmt.Sprintf("%s samples of %s are longer than an hour", unit.Count(t.OutOfRange), metric))
		}
	}
	return reasons
}

func (e *Evidence) ofGroup(group int, texts []string) []string {
	if len(e.Groups) < 2 {
		return texts
	}
	named := make([]string, len(texts))
	for i, text := range texts {
		named[i] = "group " + e.Groups[group].Name + ": " + text
	}
	return named
}

func faultsOfTheTool(out *result.Run) (reasons []string) {
	if late := time.Duration(out.Time["pacer_lateness"].P99Ns); late > maxLateness {
		reasons = append(reasons, fmt.Sprintf("the pacer was late: %s at p99, above its bound of %v", unit.Nanos(int64(late)), maxLateness))
	}
	if text := starvation(out); text != "" && !unscheduled(out) {
		reasons = append(reasons, text)
	}
	return reasons
}

// starvation returns "" if the wait for CPU is within the bound.
func starvation(out *result.Run) string {
	delay := time.Duration(out.Process.SchedDelayNs.P99Ns)
	if delay <= maxSchedDelay {
		return ""
	}
	return fmt.Sprintf("the tool was starved of CPU: its goroutines waited %s at p99 to run, above the bound of %v", unit.Nanos(int64(delay)), maxSchedDelay)
}

// Without a schedule, a starved tool still counts right, but its times are wrong: see unreliable.
func unscheduled(out *result.Run) bool { return out.Load.ClosedLoop || out.Load.Scheduled == 0 }

// unreliable returns the fields of a valid run that have a figure but were not measured
// (result.Run.Says): if the tool was starved, the fields of all times.
func unreliable(out *result.Run) (fields []string) {
	if starvation(out) == "" || !unscheduled(out) {
		return nil
	}
	for _, metric := range result.TimeMetrics {
		if t := out.Time[metric]; t.Count+t.NotEnded > 0 {
			fields = append(fields, "time."+metric)
		}
	}
	for _, field := range []string{"lag.time_lag_peak_ns", "intervals.time_lag_ns", "intervals.time"} {
		if out.Says(field) { // a run without producers has no values for the first two
			fields = append(fields, field)
		}
	}
	return fields
}

// ToolLimits returns why the tool or its machine, and not Kafka, may have limited a run.
func ToolLimits(out *result.Run) (reasons []string) {
	for _, a := range out.Agents {
		reasons = append(reasons, ofAgent(a, ToolLimits(alone(out, a)))...)
	}
	if len(reasons) > 0 {
		return reasons
	}
	reasons = faultsOfTheTool(out)
	if text := starvation(out); text != "" && unscheduled(out) {
		reasons = append(reasons, text)
	}
	if busy := out.Process.HostCPUBusy; busy != nil && *busy > warnBusy {
		reasons = append(reasons, fmt.Sprintf("the machine's CPUs were %s busy", unit.Percent(*busy)))
	}
	return reasons
}

// Warnings returns the warnings that every run of a scenario has.
func Warnings(s scenario.Scenario) []string { return s.Warnings(payload.StampSize) }

func (v verdict) warningsOfTheSetup() (warnings []string) {
	warnings = append(warnings, Warnings(v.Scenario)...)
	if note := v.Info.Cluster.Note; note != "" {
		warnings = append(warnings, note)
	}
	if c := v.out.Consumer.Confined; c != nil && c.Note != "" {
		warnings = append(warnings, "the consumers' limits are not in effect: "+c.Note)
	}
	if v.PlainTimers {
		warnings = append(warnings, "the precise pacer needs Linux; this run was paced by plain timers")
	}
	return append(warnings, v.warningsOfTheUsage()...)
}

func (v verdict) warningsOfTheUsage() (warnings []string) {
	told, died := v.out.Process.CPUUserS != nil, v.Machine.UsageUnknown
	if !told && died != nil {
		warnings = append(warnings, fmt.Sprintf("the usage of the run's processes is left out, because it is unknown for one that ended: %v", died))
	}
	switch noBroker := v.LocalBrokers && len(v.out.Broker) == 0; {
	case !told && died == nil:
		warnings = append(warnings, "this operating system does not report what a process uses; those figures are left out")
	case noBroker && told:
		warnings = append(warnings, "the usage of the brokers is unknown: none ran when the measured window ended")
	}
	return warnings
}

func (v verdict) warningsOfTheRecords() (warnings []string) {
	out := v.out
	warn := func(n int64, format string) {
		if n > 0 {
			warnings = append(warnings, fmt.Sprintf(format, unit.Count(n)))
		}
	}
	warnOf := func(n int64, noun, what string) {
		if n > 0 {
			warnings = append(warnings, unit.Things(n, noun)+" "+what)
		}
	}
	if v.Interrupted {
		why := "interrupted"
		if reason := v.Info.EndedByGuard; reason != "" {
			why = "a guard ended the run: " + reason
		}
		warnings = append(warnings, fmt.Sprintf("%s: %.1f s of %v were measured", why, v.lengthS(), v.Scenario.Phases.Measure))
	}
	reason := ""
	if most := out.Load.Errors.Most(); most != "" {
		reason = "; the most frequent error: " + most
	}
	if most := v.Scenario.Bound(); most > 0 && !v.Interrupted && float64(out.Load.Scheduled) < nearBound*float64(most) {
		warnings = append(warnings, fmt.Sprintf(
			"the measured window of %v ended after %s of the %s records of %s: give phases.measure more",
			v.Scenario.Phases.Measure, unit.Count(out.Load.Scheduled), unit.Count(most), v.Scenario.Load.AmountKey()))
	}
	warnOf(out.Load.Failed, "record", "failed: not in the log"+reason)
	if n := out.Load.Unknown; n > 0 {
		warnings = append(warnings,
			fmt.Sprintf("the fate of %s records is unknown: they may or may not be in the log%s", unit.Count(n), reason))
	}
	warn(out.Delivery.Lost, v.lostWarning())
	warnOf(out.Delivery.Corrupt, "record", "arrived corrupt")
	if v.Queue == nil { // a queue delivers again, and in any order
		warn(out.Delivery.Duplicates, v.duplicatesWarning())
		warn(out.Delivery.Reordered, "%s records were delivered after a later one of the same producer and partition")
	}
	warn(out.Delivery.Foreign, "%s records in the topic are not of this run")
	warnOf(out.Load.Deferred, "record", "still waited at the source when the run ended: no time includes this wait")
	switch {
	case v.Queue != nil:
	case v.endless(): // the run has no end to reach
	case out.Delivery.Pending == 0: // nothing is missing, even if there was no drain
	case !v.Drained && !v.sends():
		warnings = append(warnings, fmt.Sprintf("not read to its end: %s records of the topic were not read when the run ended", unit.Count(out.Delivery.Pending)))
	case !v.Drained:
		warnings = append(warnings, fmt.Sprintf("not drained: %s acknowledged records were not delivered by the end, and count as slower than all that were",
			unit.Count(out.Delivery.Pending)))
	}
	hit := v.brokersHit()
	for _, id := range v.Machine.Gone {
		if slices.Contains(hit, fmt.Sprintf("%s %d", scenario.BrokerTarget, id)) || slices.Contains(hit, scenario.EveryBroker) {
			continue
		}
		warnings = append(warnings, fmt.Sprintf("broker %d ended during the measured window", id))
	}
	warnings = append(warnings, warningsOfTheSignal(out.Backpressure, v.Scenario.Backpressure.Blind)...)
	warnings = append(warnings, v.warningsOfTheFaults()...)
	warnOf(out.Consumer.Rebalances, "rebalance", "in the measured window")
	warnOf(out.Consumer.CommitErrors, "commit", "failed in the measured window")
	return warnings
}

func warningsOfTheSignal(b *result.Backpressure, blind string) (warnings []string) {
	if b == nil {
		return nil
	}
	if b.SignalAgeMaxNs > int64(maxSignalAge) {
		warnings = append(warnings, fmt.Sprintf("the gate used a lag that was up to %s old, because it could not be read", unit.Nanos(b.SignalAgeMaxNs)))
	}
	if b.BlindS > 0 {
		admits := "nothing"
		if blind == "open" {
			admits = "everything"
		}
		warnings = append(warnings, fmt.Sprintf("the gate was blind for %.1f s, in which it admitted %s", b.BlindS, admits))
	}
	return warnings
}

func warningsOfTheMachine(out *result.Run) (warnings []string) {
	if late := time.Duration(out.Time["pacer_lateness"].P99Ns); late > warnLateness && late <= maxLateness {
		warnings = append(warnings, fmt.Sprintf("the pacer was %s late at p99; response times contain that", unit.Nanos(int64(late))))
	}
	lateness, response := out.Time["pacer_lateness"].MaxNs, out.Time["e2e_response_time"].MaxNs
	if lateness > int64(warnLateness) && lateness*4 > response {
		warnings = append(warnings, fmt.Sprintf("the pacer was once %s late: the highest response times contain that, and are not all Kafka's", unit.Nanos(lateness)))
	}
	if text := starvation(out); text != "" && unscheduled(out) {
		warnings = append(warnings, text+"; what it reached is what the machine had left for it, and none of its times is to be relied on")
	}
	if c := out.Consumer.Confined; c != nil && c.SchedDelayNs != nil && time.Duration(c.SchedDelayNs.P99Ns) > maxSchedDelay {
		warnings = append(warnings, fmt.Sprintf("the consumers' goroutines waited %s at p99 to run, each process limited to %g cores: times that end at a consumer contain that",
			unit.Nanos(c.SchedDelayNs.P99Ns), c.CPU))
	}
	if busy := out.Process.HostCPUBusy; busy != nil && *busy > warnBusy {
		warnings = append(warnings, fmt.Sprintf("the machine's CPUs were %s busy: the figures are of this machine as much as of Kafka", unit.Percent(*busy)))
	}
	if stolen := out.Process.HostCPUStolen; stolen != nil && *stolen > WarnStolen {
		warnings = append(warnings, fmt.Sprintf("the hypervisor took %s of the CPU time away", unit.Percent(*stolen)))
	}
	return warnings
}
