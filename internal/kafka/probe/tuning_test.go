package probe

import (
	"reflect"
	"testing"
	"testing/fstest"
)

func TestReadTuning(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	sys := fstest.MapFS{
		"devices/system/clocksource/clocksource0/current_clocksource": file("hpet\n"),
		"devices/system/cpu/cpu0/cpufreq/scaling_governor":            file("powersave\n"),
		"devices/system/cpu/cpu1/cpufreq/scaling_governor":            file("performance\n"),
		"devices/system/cpu/cpu10/cpufreq/scaling_governor":           file("powersave\n"),
		"devices/system/cpu/cpufreq/policy0/scaling_governor":         file("schedutil\n"),
		"kernel/mm/transparent_hugepage/enabled":                      file("always [madvise] never\n"),
	}
	want := Tuning{ClockSource: "hpet", Governors: []string{"performance", "powersave"}, HugePages: "madvise"}
	if got := readTuning(sys); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := readTuning(fstest.MapFS{}); !reflect.DeepEqual(got, Tuning{}) {
		t.Errorf("without files: %+v", got)
	}
}
