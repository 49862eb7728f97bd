//go:build full

package remote

import (
	"testing"

	"golang.org/x/sys/unix"
)

// The child's new parent is a reaper in the same session, so POSIX does not resume the child's
// group.
func TestStillChildOfADeadParentUnderAReaper(t *testing.T) {
	reap := func(on uintptr) {
		if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, on, 0, 0, 0); err != nil {
			t.Fatal(err)
		}
	}
	reap(1)
	defer reap(0)
	wakesStillChild(t)
}
