package probe

import (
	"fmt"
	"time"

	"github.com/prometheus/procfs"
)

// ReadThreads reads the core time of a process's threads from /proc/<pid>/task/*/schedstat.
func ReadThreads(pid int) (Threads, error) {
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return nil, fmt.Errorf("reading /proc: %w", err)
	}
	all, err := fs.AllThreads(pid)
	if err != nil {
		return nil, fmt.Errorf("reading the threads of process %d: %w", pid, err)
	}
	threads := make(Threads, len(all))
	for _, thread := range all {
		// The file is gone if the thread has ended, or if the kernel does not count.
		if s, err := thread.Schedstat(); err == nil {
			threads[thread.PID] = CoreTime{Ran: time.Duration(s.RunningNanoseconds),
				Waited: time.Duration(s.WaitingNanoseconds)}
		}
	}
	if len(threads) == 0 {
		return nil, fmt.Errorf("the kernel does not report how long the threads of process %d waited", pid)
	}
	return threads, nil
}
