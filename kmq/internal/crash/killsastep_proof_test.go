//go:build proof

package crash

// killsAStep is how often a process of one queue is killed at one step: once with no other member,
// and then twice beside a living one, which takes over.
const killsAStep = 3
