package analysis

import (
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/figure"
)

// Difference is a setting in which sets of runs differ.
type Difference struct {
	Name string `json:"name"` // such as load.compression, or Kafka's version
	A    string `json:"a"`    // "" if it is not set
	B    string `json:"b"`
}

// Attributes are settings by name, each with its values in words: several if the runs of a set
// differ.
type Attributes map[string][]string

func (a Attributes) note(name, value string) {
	if value != "" && !slices.Contains(a[name], value) {
		a[name] = append(a[name], value)
	}
}

func (a Attributes) text(name string) string {
	return strings.Join(slices.Sorted(slices.Values(a[name])), ", ")
}

// Differences returns the attributes in which a and b differ, sorted by name.
func Differences(a, b Attributes) []Difference {
	names := maps.Clone(a)
	maps.Copy(names, b)
	var found []Difference
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if x, y := a.text(name), b.text(name); x != y {
			found = append(found, Difference{Name: name, A: x, B: y})
		}
	}
	return found
}

// Mixed returns the attributes that differ among the runs of a set.
func (a Attributes) Mixed() (names []string) {
	for _, name := range slices.Sorted(maps.Keys(a)) {
		if len(a[name]) > 1 {
			names = append(names, fmt.Sprintf("%s (%s)", name, a.text(name)))
		}
	}
	return names
}

// ScenarioSettings returns the settings of the runs' scenarios, and the runs' agents. A scenario
// older than a key has the key's default; a key that only some runs set is mixed.
func ScenarioSettings(runs []*result.Recorded) Attributes {
	var each []map[string]string
	all := Attributes{}
	for _, r := range runs {
		settings := figure.Configuration(&r.Run)
		if says(settings) {
			for name, value := range result.LaterSettings() {
				if _, there := settings[name]; !there {
					settings[name] = value
				}
			}
		}
		each = append(each, settings)
		for name, value := range settings {
			all.note(name, value)
		}
	}
	for name := range all {
		for _, settings := range each {
			if _, there := settings[name]; !there {
				all.note(name, NotSet)
			}
		}
	}
	return all
}

// NotSet is the value of a setting that is not set.
const NotSet = "not set"

// says reports whether settings come from a Kafka Bench scenario; those of other tools do not have
// our defaults.
func says(settings map[string]string) bool {
	_, there := settings["consume.consumers"]
	return there
}

// noteBounds notes what was stored if the disk was too small for the volume or the fill: runs that
// stored different amounts are no repeats.
func noteBounds(all Attributes, r *result.Run) {
	volume, fill := "what was asked", "what was asked"
	bounded := func(text *string, bytes, records int64) {
		switch {
		case bytes > 0:
			*text = unit.Bytes(bytes)
		case records > 0:
			*text = unit.Things(records, "record")
		}
	}
	bounded(&volume, r.Load.VolumeBoundedBytes, r.Load.VolumeBoundedRecords)
	if r.Fill != nil {
		bounded(&fill, r.Fill.BoundedBytes, r.Fill.BoundedRecords)
	}
	all.note("volume", volume)
	all.note("fill", fill)
}

// Surroundings returns what figures depend on outside the scenario: versions, the machine, the
// cluster.
func Surroundings(runs []*result.Recorded) Attributes {
	all := Attributes{}
	for _, r := range runs {
		info := r.Run.Run
		all.note("made by", "kafka-bench")
		if info.Imported != nil {
			all["made by"] = nil
			all.note("made by", "another tool ("+info.Imported.Format+", imported)")
		}
		all.note("kafka-bench", strings.TrimSpace(info.Tool.Version+" "+info.Tool.Revision))
		if r.Run.Method() > 0 {
			all.note("method", strconv.Itoa(r.Run.Method()))
		}
		all.note("Go", info.Tool.GoVersion)
		all.note("client", strings.TrimSpace(info.Driver.Name+" "+info.Driver.Version))
		noteHost(all, info.Host)
		noteCluster(all, info.Cluster)
		all.note("faults", unaskedFaults(&r.Run))
		noteBounds(all, &r.Run)
	}
	return all
}

// unaskedFaults lists a run's faults in their order, if its scenario has none.
func unaskedFaults(r *result.Run) string {
	for name := range figure.Settings(r.Scenario) {
		if strings.HasPrefix(name, "faults[") {
			return ""
		}
	}
	var each []string
	for _, fault := range r.Faults {
		each = append(each, strings.TrimSpace(fault.Name+" "+fault.Target))
	}
	return strings.Join(each, ", then ")
}

func noteHost(all Attributes, h result.Host) {
	if h.OS == "" {
		return
	}
	all.note("host", h.OS+"/"+h.Arch)
	all.note("host kernel", h.Kernel)
	all.note("host CPU", h.CPUModel)
	all.note("host CPUs", strconv.Itoa(h.CPUs))
	if h.MemoryBytes > 0 {
		all.note("host memory", unit.Bytes(h.MemoryBytes))
	}
}

// BrokerSetting begins the names of brokers' settings.
const BrokerSetting = "broker setting "

// noteCluster notes only the ID of an existing cluster, because a local one has a new ID for each
// start.
func noteCluster(all Attributes, c result.Cluster) {
	if c.Kind == "" {
		return
	}
	all.note("cluster", c.Kind)
	all.note("Kafka", c.Version)
	all.note("brokers", strconv.Itoa(c.Brokers))
	if c.Kind == "existing" {
		all.note("cluster ID", c.ID)
	}
	for name, value := range c.Settings {
		all.note(BrokerSetting+name, value)
	}
}

// ClientSettings returns the effective client settings, except those that contain
// the run's ID or an address.
func ClientSettings(runs []*result.Recorded) Attributes {
	return clientSettingsAs(runs, func(s result.Setting) result.Setting { return s })
}

func clientSettingsAs(runs []*result.Recorded, naming func(result.Setting) result.Setting) Attributes {
	all := Attributes{}
	for _, r := range runs {
		note := func(side string, settings []result.Setting) {
			for _, s := range settings {
				s = naming(s)
				if !strings.Contains(s.Value, r.Run.Run.ID) && !isAddress(s.Value) {
					all.note(side+" setting "+s.Name, s.Value)
				}
			}
		}
		note("producer", r.Run.Run.Driver.Producer)
		note("consumer", r.Run.Run.Driver.Consumer)
	}
	return all
}

func isAddress(value string) bool {
	first, _, _ := strings.Cut(value, ",")
	_, port, err := net.SplitHostPort(first)
	if err != nil {
		return false
	}
	_, err = strconv.ParseUint(port, 10, 16)
	return err == nil
}
