package scenario

import (
	"embed"
	"fmt"
	"slices"

	"kafka-bench/internal/spelling"
)

//go:embed presets/*.yaml
var presetFiles embed.FS

// presetNames in the order in which a newcomer would run them.
var presetNames = []string{
	"quick",
	"baseline",
	"slow-consumer",
	"overload",
	"overload-loose",
	"overload-tight",
}

// Names lists the presets, in the order in which a newcomer would run them.
func Names() []string { return slices.Clone(presetNames) }

// Preset returns the preset of a name, resolved. Its Description is one line,
// and its Duration says how long it takes.
func Preset(name string) (Scenario, error) {
	text, err := PresetText(name)
	if err != nil {
		return Scenario{}, err
	}
	return Parse("preset "+name, text)
}

// PresetText returns the YAML of a preset as it was written, with the comments
// that explain it.
func PresetText(name string) ([]byte, error) {
	if !slices.Contains(presetNames, name) {
		return nil, fmt.Errorf("preset %q is not known; choose %s", name, spelling.OneOf(presetNames))
	}
	text, err := presetFiles.ReadFile("presets/" + name + ".yaml")
	if err != nil {
		return nil, fmt.Errorf("preset %s: %w", name, err)
	}
	return text, nil
}
