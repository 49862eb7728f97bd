package engine

// Turn is a lock whose holder may wait for the cluster meanwhile. It is a channel and no
// sync.Mutex, so that who waits for it does not stop the clock of a test in virtual time.
type Turn chan struct{}

// NewTurn returns one that is free.
func NewTurn() Turn { return make(Turn, 1) }

// Lock waits until the turn is free, and takes it.
func (t Turn) Lock() { t <- struct{}{} }

// Unlock gives it to one of those who wait.
func (t Turn) Unlock() { <-t }
