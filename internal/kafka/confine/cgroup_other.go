//go:build !linux

package confine

import "errors"

func openGroup(Limits) (group, error) {
	return nil, errors.New("it has no control groups")
}

// Reap does nothing: only Linux has control groups.
func Reap() (removed []string) { return nil }
