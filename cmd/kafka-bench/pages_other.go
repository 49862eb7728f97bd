//go:build !unix

package main

import "os/exec"

func apart(*exec.Cmd) {}

func giveWay() {}
