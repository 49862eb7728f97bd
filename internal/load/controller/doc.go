// Package controller has the controllers that a run compares credit and latency with: on/off
// control, AIMD and gradient limits.
//
// Files to know: hysteresis.go, aimd.go, gradient.go.
package controller
