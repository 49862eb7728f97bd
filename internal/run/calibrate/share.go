package calibrate

import "math"

var shares = []float64{0.95, 0.85, 0.7, 0.55, 0.4, 0.25, 0.1}

// The search ends when the ratio of a share that failed to a share that held is at most this.
// Closer results of such short runs differ by chance.
const fine = 1.1

type found struct {
	held   float64 // highest that held; 0 if none did
	failed float64 // lowest tried above held that failed; 0 if none
	at     int
}

// highestShare tries shares of the capacity from an index, until one holds and the next higher one
// fails. It then bisects at most halvings times, at the geometric mean.
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
