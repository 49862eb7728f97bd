package foreign

import (
	"bytes"
	"iter"
	"strings"
)

// textLines iterates over the lines, numbered from 1, without line ends.
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
