package backpressure

// Off admits everything. It is the reference for every other controller.
type Off struct{}

// Decide implements [Controller].
func (Off) Decide(Observation) Decision {
	return Decision{Ceiling: Unlimited, Bound: Unlimited, Reason: "backpressure is off"}
}
