package engine

// Turn is a lock whose holder may wait for the cluster. A wait for a sync.Mutex would block the virtual time of tests.
type Turn chan struct{}

// NewTurn returns an unlocked Turn.
func NewTurn() Turn { return make(Turn, 1) }

// Lock locks the turn.
func (t Turn) Lock() { t <- struct{}{} }

// Unlock unlocks the turn.
func (t Turn) Unlock() { <-t }
