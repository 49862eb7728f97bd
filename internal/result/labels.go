package result

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const longestLabel = 200 // characters of a value

var labelKey = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$`)

// CheckLabel returns why key=value can be no label of a run.
func CheckLabel(key, value string) error {
	switch {
	case !labelKey.MatchString(key):
		return errors.New("write a label as KEY=VALUE; a key has up to 63 letters, digits, _, . and -, as in commit=5feb6b2")
	case value == "":
		return fmt.Errorf("the label %s has no value; write %s=VALUE", key, key)
	case utf8.RuneCountInString(value) > longestLabel:
		return fmt.Errorf("the value has more than %d characters; shorten it", longestLabel)
	case strings.ContainsFunc(value, func(r rune) bool { return !unicode.IsPrint(r) }):
		return errors.New("the value has characters that cannot be printed; leave them out")
	}
	return nil
}

// LabelText prints labels in the order of their keys: branch=main, commit=5feb6b2.
func LabelText(labels map[string]string) string {
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		parts = append(parts, key+"="+labels[key])
	}
	return strings.Join(parts, ", ")
}

var wholeHash = regexp.MustCompile(`\b[0-9a-f]{40,64}\b`)

// ShortLabelText is LabelText with hashes of commits cut to 12 characters, for tables.
func ShortLabelText(labels map[string]string) string {
	return wholeHash.ReplaceAllStringFunc(LabelText(labels), func(hash string) string { return hash[:12] })
}

// HasLabels reports whether labels has all wanted ones.
func HasLabels(labels, wanted map[string]string) bool {
	for key, value := range wanted {
		if labels[key] != value {
			return false
		}
	}
	return true
}
