package bench

import "fmt"

// groupNames are the names of n groups of a run: the run's own, or for several the
// run's with their numbers from 1 on.
func groupNames(run string, n int) []string {
	if n == 1 {
		return []string{run}
	}
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("%s-%d", run, i+1)
	}
	return names
}
