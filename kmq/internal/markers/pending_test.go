package markers

import (
	"context"
	"testing"
	"testing/synctest"
)

// A wait ends when what began before it is done, in whatever order, and not later.
func TestPending(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p pending
		if err := p.wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		first, second := p.add(), p.add()
		over := make(chan error, 1)
		go func() { over <- p.wait(context.Background()) }()
		synctest.Wait()
		p.add()
		for _, number := range []uint64{second, first} {
			if synctest.Wait(); len(over) > 0 {
				t.Fatal("it ends too early")
			}
			p.done(number)
		}
		if synctest.Wait(); len(over) == 0 {
			t.Error("it waits for what began later")
			p.done(first + 2)
		}
	})
}
