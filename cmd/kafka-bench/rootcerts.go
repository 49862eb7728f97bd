//go:build rootcerts

package main

// The image has no certificates of a distribution. Where the system has some, they are used.
import _ "golang.org/x/crypto/x509roots/fallback"
