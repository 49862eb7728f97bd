package bench

import "fmt"

// groupNames returns run if n is 1, and otherwise run-1 to run-n.
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
