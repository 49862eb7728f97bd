package probe

import (
	"io/fs"
	"slices"
	"strings"
)

// Tuning is how the operating system is set up, as far as it changes what a run measures. What is unknown is empty.
type Tuning struct {
	ClockSource string   // of the kernel's clock, such as tsc
	Governors   []string // of the cores' frequencies, each once, sorted
	HugePages   string   // transparent huge pages: always, madvise or never
}

// readTuning reads /sys.
func readTuning(sys fs.FS) (t Tuning) {
	t.ClockSource = word(sys, "devices/system/clocksource/clocksource0/current_clocksource")
	files, _ := fs.Glob(sys, "devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor") // the pattern is valid
	for _, file := range files {
		if governor := word(sys, file); governor != "" {
			t.Governors = append(t.Governors, governor)
		}
	}
	slices.Sort(t.Governors)
	t.Governors = slices.Compact(t.Governors)
	_, chosen, _ := strings.Cut(word(sys, "kernel/mm/transparent_hugepage/enabled"), "[")
	t.HugePages, _, _ = strings.Cut(chosen, "]")
	return t
}

func word(sys fs.FS, file string) string {
	text, err := fs.ReadFile(sys, file)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}
