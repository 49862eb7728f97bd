package result

// Fault is something that was done to a run on purpose while it went on.
type Fault struct {
	// Name is what was done: kill (it vanished, without leaving or committing),
	// stop (it left in order), or start (it came, for the first time or again).
	Name    string `json:"name"`
	Target  string `json:"target"` // consumer 1: of each group, if there are several
	StartNs int64  `json:"start_ns"`
	// EndNs is when the target was started again; null where it was not, or where
	// nothing was missing.
	EndNs *int64 `json:"end_ns"`
	// Detail is what the target took with it, or what else there is to say.
	Detail string `json:"detail,omitempty"`
}
