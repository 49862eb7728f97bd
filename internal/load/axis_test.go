package load

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestAdoptedAxis(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		booted := time.Now().Add(-time.Hour)
		machine := func() int64 { return int64(time.Since(booted)) }
		here := NewAxis(machine)
		time.Sleep(3 * time.Millisecond)
		there := NewAxis(machine)
		here.Set(time.Second, time.Minute)
		there.Adopt(here.Zero())
		if there.End() != int64(time.Minute) {
			t.Errorf("the adopted window is %v long", time.Duration(there.End()))
		}
		if here.Now() != -int64(time.Second) || there.Now() != here.Now() {
			t.Errorf("the axes are at %v and %v, a second before their zero", here.Now(), there.Now())
		}
	})
}
