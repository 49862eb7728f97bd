package ledger

type tally struct {
	lost, pending, unackedDelivered int64
	ranges                          []LostRange
}

func (t *tally) merge(o *tally) {
	t.lost += o.lost
	t.pending += o.pending
	t.unackedDelivered += o.unackedDelivered
	t.ranges = append(t.ranges, o.ranges...)
}

// takeLost takes up to n off the lost, the lowest first.
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

func (t *tally) takePending(n int64) (left int64) {
	taken := min(n, t.pending)
	t.pending -= taken
	return n - taken
}
