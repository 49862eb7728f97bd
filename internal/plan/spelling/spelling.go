// Package spelling finds the word that a person probably meant, so that an error about a mistyped key can name it.
package spelling

import "strings"

// Nearest returns the choice that word was probably meant to be. It returns "" if more than a third of the
// letters, or more than three, would change.
func Nearest(word string, choices []string) string {
	best, nearestYet := "", 4
	word = plain(word)
	for _, choice := range choices {
		d := distance(word, plain(choice))
		if d < nearestYet && d <= max(len(word), len(choice))/3 {
			best, nearestYet = choice, d
		}
	}
	return best
}

// Same reports whether two words differ only in case, hyphens, underscores and spaces, like max-lag, maxLag and
// MAX_LAG.
func Same(a, b string) bool { return plain(a) == plain(b) }

// OneOf returns "one of a, b or c".
func OneOf(choices []string) string {
	if len(choices) == 1 {
		return choices[0]
	}
	last := len(choices) - 1
	return "one of " + strings.Join(choices[:last], ", ") + " or " + choices[last]
}

var separators = strings.NewReplacer("-", "", "_", "", " ", "")

func plain(word string) string {
	return strings.ToLower(separators.Replace(word))
}

// distance is Damerau–Levenshtein's, restricted to adjacent swaps. Words above 64 letters are near no
// word.
func distance(a, b string) int {
	if len(a) > 64 || len(b) > 64 {
		return max(len(a), len(b))
	}
	var before, above []int
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		before, above, row = above, row, make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := above[j-1]
			if a[i-1] != b[j-1] {
				change++
			}
			row[j] = min(change, above[j]+1, row[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
	}
	return row[len(b)]
}
