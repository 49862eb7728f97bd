package result

import (
	"path/filepath"
	"slices"
)

// Distinct returns each run once, at its first place, and how many runs occur more than once. ID
// and start identify a run, also in a copied folder. An imported run is identified by its folder,
// with symbolic links followed.
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
