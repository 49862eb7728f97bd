package result

// Fault is something that was done to a run on purpose while it went on.
type Fault struct {
	// Name is what was done: kill (it vanished, as by SIGKILL), stop (it went in
	// order), start (it came, for the first time or again), pause (it was stopped
	// where it stood), resume (it went on), or restart (it went in order and came
	// again).
	Name string `json:"name"`
	// Target is what it was done to, as the scenario has it: consumer 1 (of each group,
	// if there are several), broker 2, leader of partition 0, every broker. Hit is the
	// broker that it was, where the target does not say.
	Target  string `json:"target"`
	Hit     string `json:"hit,omitempty"`
	StartNs int64  `json:"start_ns"`
	// EndNs is when the target was there again: a consumer was started or resumed, a
	// broker was resumed or served again, every broker was in sync again. It is null
	// where that did not come, or where nothing was missing.
	EndNs *int64 `json:"end_ns"`
	// Detail is what the target took with it, or what else there is to say.
	Detail string `json:"detail,omitempty"`
}
