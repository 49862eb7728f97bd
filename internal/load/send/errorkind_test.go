package send

import "testing"

func TestErrorKind(t *testing.T) {
	for text, want := range map[string]string{
		"records have timed out before they were able to be produced": "records have timed out before they were able to be produced",
		"no record of t/0 was completed for 1.1s, and 12 wait":        "no record of t/N was completed for N, and N wait",
		"it took 1m30.5s, 250ms, 3h2m1s, 12µs or 10 s":                "it took N, N, N, N or N s",
		"INVALID_RECORD: Compacted topic cannot accept message without key in topic partition orders-3": "INVALID_RECORD: " +
			"Compacted topic cannot accept message without key in topic partition orders-N",
		"write tcp 127.0.0.1:43211->10.0.0.12:9092: broken pipe":          "write tcp 127.0.0.1:N->10.0.0.12:N: broken pipe",
		"dial tcp kafka-1:9092 or b2.example.com:9092: i/o timeout":       "dial tcp kafka-1:N or b2.example.com:N: i/o timeout",
		"dial tcp [::1]:9092: connect: connection refused":                "dial tcp [::N]:N: connect: connection refused",
		"x509: TLS1.3, SHA256, lz4 and run-20261129T0144-ab3 stay, 0 not": "x509: TLS1.N, SHA256, lz4 and run-20261129T0144-ab3 stay, N not",
		"MESSAGE_TOO_LARGE: it (uncompressed_bytes=1012, offset 1,234)":   "MESSAGE_TOO_LARGE: it (uncompressed_bytes=N, offset N)",
		"the time is 2026-11-29 01:44:58.123 UTC":                         "the time is N-N-N N UTC",
	} {
		if got := errorKind(text); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}
