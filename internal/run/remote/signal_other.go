//go:build !unix

package remote

import (
	"errors"
	"os/exec"
)

func inOwnGroup(*exec.Cmd) {}

func (c *Child) stand() error { return errors.ErrUnsupported }
func (c *Child) goOn() error  { return errors.ErrUnsupported }
