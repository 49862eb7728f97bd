package backpressure

// Off admits everything: what a producer without backpressure does, and what
// every other controller is compared with.
type Off struct{}

// Decide implements [Controller].
func (Off) Decide(Observation) Decision {
	return Decision{Ceiling: Unlimited, Bound: Unlimited, Reason: "backpressure is off"}
}
