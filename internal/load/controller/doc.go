// Package controller has the controllers that a run compares credit and latency with: on/off
// control, AIMD and gradient limits.
//
// A controller has a file with its law and its failure modes, and reads no clock. It gets its name in
// package scenario, and is made by newController of package bench. One that package backpressure
// offers is in package lagcontrol instead.
//
// Files to know: hysteresis.go, aimd.go, gradient.go.
package controller
