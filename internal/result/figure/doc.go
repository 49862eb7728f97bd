// Package figure gives one name to every number of a run that can be compared, expected
// or tabulated. It knows of each how it is written, which side of it is the good one, and
// when a run does not have it.
//
// Names are the field's and end in what qualifies them: e2e_response_time_p99,
// acked_per_s, backlog_peak. None is called latency: which two moments of a
// record's life it counts from and to is part of the name. What was not
// measured is not known, and never zero; and a percentile that too few records
// lie beyond is not known either, since it is the luck of single ones.
//
// Files to know: figure.go, expectation.go, regression.go.
package figure
