package foreign

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"kafkabench.example/kafka-bench/internal/result"
)

// mergedTag matches a tag of "report --hlog-merge": a run's name and ID, and the original tag.
var mergedTag = regexp.MustCompile(`^Tag=([^,]*)-([a-z0-9]{6})_([^,]+),`)

// mergedRuns returns the log itself if it is not merged. A name and ID count as a run if one of
// their tags is our metric. All other lines are a further part, without a name. The lines of other
// runs are empty in a part.
func mergedRuns(log part) ([]part, error) {
	lines := bytes.SplitAfter(log.content, []byte("\n"))
	var runs []part
	for _, line := range lines {
		m := mergedTag.FindSubmatch(line)
		if m == nil || !ourMetric(string(m[3])) || runAt(runs, m) >= 0 {
			continue
		}
		if len(runs) == maxParts {
			return nil, fmt.Errorf("there are more than the %d runs in it that are read", maxParts)
		}
		runs = append(runs, part{name: string(m[1]), id: string(m[2]), before: log.before})
	}
	if len(runs) == 0 {
		return []part{log}, nil
	}
	rest, anyLeft := part{number: log.number, before: log.before}, false
	for _, line := range lines {
		owner := -1 // -1: all runs
		m := mergedTag.FindSubmatch(line)
		if m != nil {
			owner = runAt(runs, m)
		}
		isHead := len(bytes.TrimSpace(line)) == 0 || line[0] == '#' || line[0] == '"'
		for i := range runs {
			switch {
			case isHead:
				runs[i].content = append(runs[i].content, line...)
			case i == owner:
				runs[i].content = append(append(append(runs[i].content, "Tag="...), m[3]...), line[len(m[0])-1:]...)
			default:
				runs[i].content = append(runs[i].content, '\n')
			}
		}
		if isHead || owner < 0 {
			rest.content = append(rest.content, line...)
		} else {
			rest.content = append(rest.content, '\n')
		}
		anyLeft = anyLeft || !isHead && owner < 0
	}
	if anyLeft {
		runs = append(runs, rest)
	}
	for i := range runs {
		runs[i].shared = len(runs) > 1
	}
	return runs, nil
}

func ourMetric(tag string) bool {
	return slices.Contains(result.TimeMetrics, strings.TrimPrefix(tag, warmupTag))
}

// -1 is none.
func runAt(runs []part, m [][]byte) int {
	return slices.IndexFunc(runs, func(r part) bool { return r.name == string(m[1]) && r.id == string(m[2]) })
}
