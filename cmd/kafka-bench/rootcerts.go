//go:build rootcerts

package main

// A container image has no root certificates, so these are built in. If the system has its own, Go
// uses those.
import _ "golang.org/x/crypto/x509roots/fallback"
