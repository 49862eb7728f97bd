//go:build !proof

package crash

// killsAStep is how often a process of one queue is killed at one step: once, with no
// other member. The tier proof kills beside a living member too.
const killsAStep = 1
