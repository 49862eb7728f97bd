package send

import "regexp"

// numbers are what differs between two errors of one kind: counts, offsets, partitions, ports, and
// times with their units. A number within a name, such as x509, stays.
var numbers = regexp.MustCompile(`\b\d+(?:[.,:]\d+)*(?:(?:h|ms?|s|µs|us|ns)(?:\d+(?:\.\d+)?(?:ms?|s))*)?\b`)

// address is an IP address, with or without a port, or a host name of several words with a port; the port is a
// number.
var address = regexp.MustCompile(`\b(?:(\d{1,3}(?:\.\d{1,3}){3})|([A-Za-z]\w*(?:[.-]\w+)+):\d+)\b`)

// errorKind returns the text of an error with N for each number, so that errors can be counted.
func errorKind(text string) string {
	kind, at := "", 0
	for _, found := range address.FindAllStringSubmatchIndex(text, -1) {
		end := max(found[3], found[5])
		kind += numbers.ReplaceAllString(text[at:found[0]], "N") + text[found[0]:end]
		at = end
	}
	return kind + numbers.ReplaceAllString(text[at:], "N")
}
