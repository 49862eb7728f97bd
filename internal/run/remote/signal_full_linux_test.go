//go:build full

package remote

import (
	"testing"

	"golang.org/x/sys/unix"
)

// The same where the system hands orphans to a reaper of their own session: their group
// is no orphaned one then.
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
