package confine

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// here holds this process's group folder in each hierarchy, and the hierarchy's highest visible folder. The key is
// empty for version 2, and a controller's name for version 1.
type here struct{ at, top map[string]string }

func readHere() (*here, error) {
	groups, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return nil, fmt.Errorf("there are no control groups: %w", err)
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, fmt.Errorf("the mounts can't be read: %w", err)
	}
	return locate(string(groups), string(mounts)), nil
}

// locate combines cgroups(7) with the mounts of proc(5), which may show only a part of a hierarchy.
func locate(groups, mounts string) *here {
	h := &here{at: make(map[string]string), top: make(map[string]string)}
	paths := make(map[string]string)
	for line := range strings.Lines(groups) { // 4:memory:/a/b, or 0::/a/b for version 2
		if fields := strings.SplitN(strings.TrimSpace(line), ":", 3); len(fields) == 3 {
			for controller := range strings.SplitSeq(fields[1], ",") {
				paths[controller] = fields[2]
			}
		}
	}
	for line := range strings.Lines(mounts) {
		before, after, _ := strings.Cut(line, " - ")
		fields, kind := strings.Fields(before), strings.Fields(after)
		if len(fields) < 5 || len(kind) < 3 {
			continue
		}
		root, point := fields[3], fields[4]
		for controller, path := range paths {
			if !of(controller, kind) || h.at[controller] != "" {
				continue
			}
			if below, err := filepath.Rel(root, path); err == nil && below != ".." && !strings.HasPrefix(below, "../") {
				h.at[controller], h.top[controller] = filepath.Join(point, below), point
			}
		}
	}
	return h
}

// kind is the mount's type, source and options.
func of(controller string, kind []string) bool {
	if controller == "" {
		return kind[0] == "cgroup2"
	}
	return kind[0] == "cgroup" && slices.Contains(strings.Split(kind[2], ","), controller)
}

// A group can be made below this process's own group or the folder above it. parents returns nil if the hierarchy
// is not mounted.
func (h *here) parents(controller string) []string {
	at := h.at[controller]
	switch at {
	case "":
		return nil
	case h.top[controller]:
		return []string{at}
	}
	return []string{at, filepath.Dir(at)}
}
