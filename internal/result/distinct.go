package result

import (
	"path/filepath"
	"slices"
)

// Distinct returns each run once, in their order, at the place where it came first;
// twice is how many of them came again. A run is known by its ID and its start, so a
// copy of its folder is the same run. An imported run is known by its folder, with
// symbolic links followed: an import of the same file again is a run of its own.
func Distinct(runs []*Recorded) (once []*Recorded, twice int) {
	again := map[identity]bool{}
	for _, r := range runs {
		id := r.identity()
		repeated, seen := again[id]
		switch {
		case !seen:
			once = append(once, r)
		case !repeated:
			twice++
		}
		again[id] = seen
	}
	return once, twice
}

// Shared returns the runs of a that are also in b, each once.
func Shared(a, b []*Recorded) []*Recorded {
	there := map[identity]bool{}
	for _, r := range b {
		there[r.identity()] = true
	}
	once, _ := Distinct(a)
	return slices.DeleteFunc(once, func(r *Recorded) bool { return !there[r.identity()] })
}

// identity is what tells runs apart.
type identity struct {
	id, folder string
	startedNs  int64
}

func (r *Recorded) identity() identity {
	if r.Run.Run.Imported == nil {
		return identity{id: r.Run.Run.ID, startedNs: r.Run.Run.StartedAt.UnixNano()}
	}
	folder, err := filepath.Abs(r.Dir)
	if err != nil {
		folder = r.Dir
	}
	if resolved, err := filepath.EvalSymlinks(folder); err == nil {
		folder = resolved
	}
	return identity{folder: folder}
}
