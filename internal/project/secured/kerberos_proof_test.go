//go:build proof

package secured

import "testing"

type realm struct{ config string }

func startRealm(*testing.T, string) *realm { return nil }
func (*realm) serverLines() []string       { return nil }

func (*realm) clientLines() []string { return nil }
