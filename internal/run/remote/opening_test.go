package remote

import (
	"errors"
	"fmt"
	"testing"
)

// A service is opened once, by a run that is the same program, and is of no use before.
func TestOpening(t *testing.T) {
	refused := errors.New("there is no such topic")
	opened := 0
	s := opening[string, int]{what: "the clients", open: func(assigned string) (int, error) {
		opened++
		if assigned == "" {
			return 0, refused
		}
		return len(assigned), nil
	}}
	wantErr := func(err error, want string) {
		t.Helper()
		if err == nil || err.Error() != want {
			t.Errorf("the error is %v, want %s", err, want)
		}
	}
	_, err := s.get()
	wantErr(err, "the clients are not open")
	_, err = s.once(Version+1, "abc")
	wantErr(err, fmt.Sprintf("protocol version %d, where the run has %d: the program was replaced meanwhile", Version, Version+1))
	if o, err := s.once(Version, "abc"); err != nil || o != 3 || s.assigned != "abc" {
		t.Errorf("%d was opened of %q, %v", o, s.assigned, err)
	}
	_, err = s.once(Version, "abcd")
	wantErr(err, "the clients are open already")
	if o, err := s.get(); err != nil || o != 3 || opened != 1 {
		t.Errorf("%d is there, %v, after %d openings", o, err, opened)
	}

	s.begun, s.opened = false, nil
	if _, err := s.once(Version, ""); !errors.Is(err, refused) {
		t.Errorf("it was refused with %v", err)
	}
	_, err = s.get()
	wantErr(err, "the clients are not open")
}
