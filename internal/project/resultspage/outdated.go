package main

import (
	"cmp"
	"fmt"
	"slices"

	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/campaign"
)

// formOf returns how a preset is read for the page.
func formOf(name string, quick bool) scenario.Options {
	form := scenario.Options{Quick: quick}
	if !quick {
		form.Set = shortened[name]
	}
	if name == bySarama {
		form.Driver, form.Set = "sarama", []string{"name=" + name}
	}
	return form
}

// unmeasured settings change no figure. The number of repeats is the page's own.
var unmeasured = []string{"description", "repeat"}

// outdated returns an error if a campaign was not recorded with the settings that its preset has
// now, in the same form: quick or whole.
func outdated(name string, c *result.Campaign) error {
	now, err := scenario.ReadSuite(presetNamed(name), formOf(name, c.Campaign.Name != name))
	if err != nil {
		return err
	}
	if len(c.Campaign.Notes) > 0 { // the binary may have lacked a driver
		if now, _, err = campaign.LeaveOut(now, notOf(c)); err != nil {
			return err
		}
	}
	if len(c.Cells) != len(now.Cells) {
		return fmt.Errorf("it has %d configurations, and the preset has %d", len(c.Cells), len(now.Cells))
	}
	for _, cell := range now.Cells {
		at := slices.IndexFunc(c.Cells, func(was result.Cell) bool { return was.Name == cell.Name })
		if at < 0 {
			return fmt.Errorf("it has no %s, and the preset has", cell.Name)
		}
		settings, err := result.SettingsOf(cell.Scenario)
		if err != nil {
			return err
		}
		if err := unlike(c.Cells[at], settings); err != nil {
			return err
		}
	}
	return nil
}

// notOf returns the reason to leave out a driver's cells: the campaign has none of them.
func notOf(c *result.Campaign) func(driver string) string {
	return func(driver string) string {
		for _, cell := range c.Cells {
			if cell.Scenario.Get("driver") == driver {
				return ""
			}
		}
		return "not recorded"
	}
}

// unlike returns an error that names a setting that differs, or says why the cell cannot be read. A
// setting that is newer than the recording had its default.
func unlike(cell result.Cell, now result.Settings) error {
	s, err := campaign.SavedScenario(cell)
	if err != nil {
		return err
	}
	was, err := result.SettingsOf(s)
	if err != nil {
		return err
	}
	if now, err = now.WithoutFormer(); err != nil { // of a recording, too
		return err
	}
	later := result.LaterSettings() // which a recording may lack
	for _, of := range []result.Settings{was, now} {
		for path := range of.All() {
			then, is := cmp.Or(was.Get(path), later[path]), cmp.Or(now.Get(path), later[path])
			if then != is && !slices.Contains(unmeasured, path) {
				return fmt.Errorf("%s was recorded with %s %q, which is now %q", cell.Name, path, then, is)
			}
		}
	}
	return nil
}
