package tracker

// Sources is how many start markers are kept.
func Sources(s *State) int {
	n := 0
	for src := s.sources.first(); src != nil; src = src.next {
		n++
	}
	return n
}

// Deadlines is how many spans wait for theirs.
func Deadlines(s *State) int { return len(s.due.heap) }
