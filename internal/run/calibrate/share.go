package calibrate

import "math"

// shares of what the closed loop reached, at which the open loop is tried first.
var shares = []float64{0.95, 0.85, 0.7, 0.55, 0.4, 0.25, 0.1}

// fine is how far apart, as a ratio, a share that holds and one that does not may
// lie for the search to end: closer than that, runs this short differ by chance.
const fine = 1.1

// found is what a search for the highest share came to. The answer lies between
// the two.
type found struct {
	held   float64 // the highest that held; 0 if none did
	failed float64 // the lowest above it that was tried and did not; 0 if none was
	at     int     // the place in shares of the highest of those that held
}

// highestShare tries shares from one place on until one holds and the next higher
// one does not, and then goes between the two, up to so many times: half way as a
// ratio, because what matters of a rate is by how much of itself it is wrong.
func highestShare(from, halvings int, try func(share float64) (holds bool, err error)) (f found, err error) {
	f.at = from
	tell := func(share float64) (bool, error) {
		holds, err := try(share)
		if holds {
			f.held = share
		} else {
			f.failed = share
		}
		return holds, err
	}
	for at := from; at >= 0 && at < len(shares) && (f.held == 0 || f.failed == 0); {
		holds, err := tell(shares[at])
		switch {
		case err != nil:
			return found{}, err
		case holds:
			f.at = at
			at--
		default:
			at++
		}
	}
	for range halvings {
		if f.held == 0 || f.failed <= f.held*fine {
			break
		}
		if _, err := tell(math.Sqrt(f.held * f.failed)); err != nil {
			return found{}, err
		}
	}
	return f, nil
}
