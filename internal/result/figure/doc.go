// Package figure gives one name to every number of a run that can be compared, expected or
// tabulated. A Figure has its format, its good side, and the reason if a run does not have it.
//
// A name is the field's name with a qualifier: e2e_response_time_p99, acked_per_s, backlog_peak.
// The name of a time says between which two events it is. A figure that was not measured is
// unknown, never zero. So is a percentile with too few records beyond it.
//
// Files to know: figure.go, expectation.go, regression.go.
package figure
