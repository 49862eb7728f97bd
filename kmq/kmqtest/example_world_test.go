package kmqtest_test

import (
	"io"
	"testing"
)

// exampleT is a [testing.TB] for examples, which have none.
type exampleT struct {
	testing.TB
	cleanups []func()
}

func (t *exampleT) Helper()           {}
func (t *exampleT) Cleanup(f func())  { t.cleanups = append(t.cleanups, f) }
func (t *exampleT) Output() io.Writer { return io.Discard }

func (t *exampleT) end() {
	for _, f := range t.cleanups {
		f()
	}
}
