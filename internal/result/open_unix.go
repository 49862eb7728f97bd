//go:build unix

package result

import "syscall"

const noLinkNorWait = syscall.O_NOFOLLOW | syscall.O_NONBLOCK
