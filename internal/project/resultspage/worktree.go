package main

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
)

// unchanged refuses a work tree with changes, because its runs would name a commit that does not have
// the code that made them. What the recorder itself writes may have changes.
func (j job) unchanged(ctx context.Context, dir string) error {
	args := []string{"status", "--porcelain", "--", "."}
	for _, written := range []string{j.from, filepath.Dir(j.page), j.readme} {
		if filepath.IsLocal(written) { // git knows no others
			args = append(args, ":!"+written)
		}
	}
	c := exec.CommandContext(ctx, "git", args...)
	c.Dir = dir
	changed, err := c.CombinedOutput()
	if err != nil {
		return fmt.Errorf("cannot see whether the work tree has changes; record in a clone: %w\n%s", err, changed)
	}
	if len(changed) > 0 {
		return fmt.Errorf("the work tree has changes; commit them before you record:\n%s", changed)
	}
	return nil
}
