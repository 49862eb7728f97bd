//go:build unix

package result

import (
	"io/fs"

	"golang.org/x/sys/unix"
)

// mayWrite reports why nothing can be made in a folder.
func mayWrite(folder string) error {
	if err := unix.Access(folder, unix.W_OK|unix.X_OK); err != nil {
		return &fs.PathError{Op: "mkdir", Path: folder, Err: err}
	}
	return nil
}
