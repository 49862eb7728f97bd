package tracker

func Sources(s *State) int {
	n := 0
	for src := s.sources.first(); src != nil; src = src.next {
		n++
	}
	return n
}

func Deadlines(s *State) int { return len(s.due.heap) }
