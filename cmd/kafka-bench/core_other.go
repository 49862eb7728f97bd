//go:build !unix

package main

func dumpNoCore() {}
