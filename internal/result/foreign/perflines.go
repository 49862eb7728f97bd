package foreign

import (
	"bytes"
	"iter"
	"strings"
)

// Lines count from 1 and have no ends.
func textLines(content []byte) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		number := 0
		for line := range bytes.Lines(content) {
			number++
			if !yield(number, strings.TrimRight(string(line), "\r\n")) {
				return
			}
		}
	}
}
