package tracker

// Each calls f for every locked range of records, in rising order. Adjacent ranges are not joined.
func (s *State) Each(f func(from, to int64)) {
	for _, block := range s.spans.blocks {
		for _, sp := range block {
			f(sp.from, sp.to)
		}
	}
}
