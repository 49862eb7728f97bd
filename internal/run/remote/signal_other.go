//go:build !unix

package remote

import (
	"errors"
	"os/exec"
)

// InOwnGroup does nothing on this system.
func InOwnGroup(*exec.Cmd) {}

func (command) stand() error { return errors.ErrUnsupported }
func (command) goOn() error  { return errors.ErrUnsupported }
