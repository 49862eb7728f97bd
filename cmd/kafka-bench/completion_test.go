package main

import (
	"slices"
	"strings"
	"testing"

	"kafkabench.example/kafka-bench/internal/result/figure"
)

// cobra's command __complete is what the script of a shell calls.
func TestCompletion(t *testing.T) {
	for line, want := range map[string][]string{
		"run basel":                                       {"baseline"},
		"run quick recovery-a":                            {"recovery-aggressive"},
		"search overload-t":                               {"overload-tight"},
		"show overload-t":                                 {"overload-tight"},
		"run quick --merge recovery-a":                    {"recovery-aggressive"},
		"run quick --driver s":                            {"sarama", "segmentio"},
		"run quick --cluster ":                            {"kafka", "embedded"},
		"run quick --format ":                             {"text", "markdown", "csv", "json", "html"},
		"drivers --format ":                               {"text", "json"},
		"report runs/a --format h":                        {"html"},
		"history base --figure e2e_service_time_p5":       {"e2e_service_time_p50"},
		"compare a b --figures acked,e2e_service_time_p5": {"acked,e2e_service_time_p50"},
		"report runs/a --by e2e_service_time_p5":          {"e2e_service_time_p50"},
		"run quick --expect e2e_service_time_p5":          {"e2e_service_time_p50"},
		"compare a b --fail-if e2e_service_time_p5":       {"e2e_service_time_p50"},
		"chart percent":                                   {"percentiles"},
		"run quick --progress f":                          {"full"},
	} {
		words := strings.Split(line, " ")
		got := invoke(t, append([]string{"__complete"}, words...)...)
		all := strings.Split(strings.TrimSpace(got.stdout), "\n")
		if all = all[:len(all)-1]; !slices.Equal(all, want) { // the last line is the directive
			t.Errorf("%s: completed as %v, want %v\n%s", line, all, want, got.stderr)
		}
	}
	if got := invoke(t, "__complete", "history", "base", "--figure", "").stdout; strings.Count(got, "\n")-1 != len(figure.All()) {
		t.Errorf("the figures are\n%s", got)
	}
	if script := invoke(t, "completion", "bash"); script.code != exitValid || !strings.Contains(script.stdout, "__start_kafka-bench") {
		t.Errorf("exit code %d, %q", script.code, script.stderr)
	}
}
