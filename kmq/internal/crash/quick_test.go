//go:build !full

package crash

// The quick tier takes the brief faults, and one way of each engine.
const quick = true
