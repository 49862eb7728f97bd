package ledger

// tally counts the lost, pending and unacked delivered records of one book, of a lane or a partition.
type tally struct {
	lost, pending, unackedDelivered int64
	ranges                          []LostRange // of the lost that are known by number
}

func (t *tally) merge(o *tally) {
	t.lost += o.lost
	t.pending += o.pending
	t.unackedDelivered += o.unackedDelivered
	t.ranges = append(t.ranges, o.ranges...)
}

// takeLost takes up to n records off the lost, the lowest first, and returns how many of n are left over.
func (t *tally) takeLost(n int64) (left int64) {
	taken := min(n, t.lost)
	t.lost -= taken
	for rest := uint64(taken); rest > 0 && len(t.ranges) > 0; {
		first := &t.ranges[0]
		length := first.To - first.From + 1
		if rest < length {
			first.From += rest
			break
		}
		rest -= length
		t.ranges = t.ranges[1:]
	}
	return n - taken
}

// takePending takes up to n records off the pending and returns how many of n are left over.
func (t *tally) takePending(n int64) (left int64) {
	taken := min(n, t.pending)
	t.pending -= taken
	return n - taken
}
