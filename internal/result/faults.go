package result

// Fault is one thing that was done to a run on purpose.
type Fault struct {
	// Name is what was done: kill (as by SIGKILL), stop (orderly), start, pause, resume, or restart
	// (an orderly stop and a start).
	Name string `json:"name"`
	// Target is the scenario's target: consumer 1 (of each group, if there are several), broker 2,
	// leader of partition 0, every broker. Hit is the broker that the fault hit, if Target does not
	// name it.
	Target  string `json:"target"`
	Hit     string `json:"hit,omitempty"`
	StartNs int64  `json:"start_ns"`
	// EndNs is when the target ran again: a consumer was started or resumed; a broker was resumed
	// or served again; after a restart of every broker, all were in sync. Null if that did not
	// happen, and for a start or resume.
	EndNs *int64 `json:"end_ns"`
	// Detail says what the target held, such as uncommitted records, or has other remarks.
	Detail string `json:"detail,omitempty"`
}
