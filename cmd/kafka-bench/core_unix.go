//go:build unix

package main

import "syscall"

// dumpNoCore keeps secrets out of core dumps, also those of child processes.
func dumpNoCore() { _ = syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{}) }
