// Package doctor reports what on this machine prevents runs or makes their figures worse, what that costs, and the
// remedy.
//
// Read takes the readings, and Examine, which is pure, turns them into findings.
//
// Files to know: doctor.go (findings), kafka.go, machine.go (their rules), read.go.
package doctor

// Status says how bad a finding is.
type Status string

// The statuses.
const (
	OK      Status = "ok"
	Note    Status = "note"    // runs work, and it costs something
	Problem Status = "problem" // it prevents some runs, or all
	Unknown Status = "unknown" // this system does not report it
)

// Prevents says which runs a problem prevents.
type Prevents string

// What a problem prevents.
const (
	EveryRun   Prevents = "every run"
	LocalKafka Prevents = "a local Apache Kafka" // other runs use the embedded broker, or an existing cluster
)

// Finding is the outcome of one check.
type Finding struct {
	Check  string `json:"check"`
	Status Status `json:"status"`
	Found  string `json:"found"`
	// Cost and Remedy are empty if the status is OK or Unknown.
	Cost     string   `json:"cost,omitempty"`
	Remedy   string   `json:"remedy,omitempty"`
	Prevents Prevents `json:"prevents,omitempty"` // only of a Problem
}

// Examine returns a finding for each check, in a fixed order.
func Examine(r Readings) []Finding {
	return []Finding{
		java(r), maven(r), kafka(r), librdkafka(r.Librdkafka),
		loopback(r), openFiles(r.OpenFiles),
		output(r.Out), temp(r.Temp), clusters(r),
		cores(r), memory(r.MemoryBytes), otherLoad(r.CPU), stolen(r.CPU),
		clockSource(r.Tuning.ClockSource), governor(r.Tuning.Governors), hugePages(r.Tuning.HugePages),
		calibration(r),
	}
}

// Prevented reports whether a finding prevents these runs.
func Prevented(all []Finding, what Prevents) bool {
	for _, f := range all {
		if f.Prevents == what {
			return true
		}
	}
	return false
}

func ok(check, found string) Finding { return Finding{Check: check, Status: OK, Found: found} }

func unknown(check string) Finding {
	return Finding{Check: check, Status: Unknown, Found: "this system does not report it"}
}

func note(check, found, cost, remedy string) Finding {
	return Finding{Check: check, Status: Note, Found: found, Cost: cost, Remedy: remedy}
}

func problem(check string, prevents Prevents, found, remedy string) Finding {
	return Finding{
		Check: check, Status: Problem, Found: found, Cost: "it prevents " + string(prevents), Remedy: remedy,
		Prevents: prevents,
	}
}
