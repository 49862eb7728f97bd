//go:build !unix

package remote

import (
	"errors"
	"os/exec"
)

func inOwnGroup(*exec.Cmd) {}

func (command) stand() error { return errors.ErrUnsupported }
func (command) goOn() error  { return errors.ErrUnsupported }
