package shares

import (
	"encoding/json"
	"errors"
	"fmt"
)

// Version is the version of the records that this package writes and understands.
const Version = 1

// Kind is the kind of a record.
type Kind string

// The kinds of records.
const (
	Beat     Kind = "beat"     // a member lives, and wants a part
	Leave    Kind = "leave"    // a member leaves; Want covers its outstanding records
	Reclaim  Kind = "reclaim"  // a member is gone and drained, as of its beat Seq
	Snapshot Kind = "snapshot" // the state of the log before an offset
)

// Record is one entry of the log.
type Record struct {
	Version int    `json:"v"`
	Kind    Kind   `json:"k"`
	Bound   string `json:"b,omitempty"`
	// Member is the sender of a beat or a leave, or the member whose part is reclaimed.
	Member string `json:"m,omitempty"`
	// Seq counts the member's own records from 1. Fold ignores a record whose number is not above
	// the last: that record is late or a copy.
	Seq int64 `json:"n,omitempty"`
	// First marks the beats of a member that has not read itself in the log yet. Only these
	// register a member. They ask for nothing, so a late copy does no harm.
	First bool `json:"f,omitempty"`
	// Want is the part that the member asks for, if it holds less; otherwise the part to
	// which it lowered itself.
	Want Part `json:"w,omitempty"`
	// Demand is the records per second that the member would send, Served those that it
	// may send.
	Demand float64 `json:"d,omitempty"`
	Served float64 `json:"s,omitempty"`
	// Unsettled reports that a leaving member does not know the fate of all its records.
	Unsettled bool `json:"u,omitempty"`

	// Before is the offset below which a snapshot covers all records. All has the members of each
	// bound.
	Before int64              `json:"o,omitempty"`
	All    map[string][]Entry `json:"all,omitempty"`
}

// Encode returns the record as JSON in one line.
func (r Record) Encode() ([]byte, error) {
	r.Version = Version
	return json.Marshal(r)
}

// ErrVersion is the error of a record of a later version than this program's.
var ErrVersion = errors.New("shares: a record of another version")

// Decode reads what Encode wrote. For a record of a later version, the error wraps [ErrVersion].
func Decode(line []byte) (Record, error) {
	var r Record
	if err := json.Unmarshal(line, &r); err != nil {
		return Record{}, fmt.Errorf("shares: not a record of this log: %w", err)
	}
	if r.Version < 1 {
		return Record{}, errors.New("shares: not a record of this log: it has no version")
	}
	if r.Version > Version {
		return Record{}, fmt.Errorf("%w: it has %d and this program understands 1 to %d: use one release in all members", ErrVersion, r.Version, Version)
	}
	return r, nil
}
