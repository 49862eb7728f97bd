package bench

import "fmt"

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
