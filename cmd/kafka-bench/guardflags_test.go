package main

import (
	"strings"
	"testing"
)

// 192.0.2.1 is an address for documents (RFC 5737).
const elsewhere = " --dry-run --brokers 192.0.2.1:9092 --cluster-id 5L6g3nShT-eMCtK--X86sw"

// What a command may do to a cluster that is not on this machine is bounded, and the flag that raises a
// bound is named.
func TestCaps(t *testing.T) {
	file := write(t, tiny)
	tests := map[string]struct {
		args string
		want string
		code int
	}{
		"within":           {"run FILE" + elsewhere, "at most   10k/s (--max-rate), 10.0 GB stored (--max-bytes), 15 min (--max-time)\n", exitValid},
		"a rate":           {"run FILE --set load.rate=20k/s" + elsewhere, "offers up to 20k/s, and the most is 10k/s; if that is meant, give --max-rate 20k/s", exitBadInput},
		"a raised rate":    {"run FILE --set load.rate=20k/s --max-rate 20k/s" + elsewhere, "20k/s (--max-rate)", exitValid},
		"bytes":            {"run FILE --set topic.fill=11GB" + elsewhere, "11.0 GB at a time, and the most is 10.0 GB; if that is meant, give --max-bytes ", exitBadInput},
		"time":             {"run FILE --set phases.measure=16m" + elsewhere, "and the most is 15 min; if that is meant, give --max-time 17m", exitBadInput},
		"a long fill":      {"run FILE --set topic.fill=3GB --set load.record.size=100" + elsewhere, "the runs take at least 50 min 0.4 s, and the most is 15 min; if that is meant, give --max-time 51m", exitBadInput},
		"a search's fill":  {"search FILE --set topic.fill=300MB --set load.record.size=100" + elsewhere, "the search takes at least ", exitBadInput},
		"others' topic":    {"run FILE --set topic.existing=orders --write-to orders --set topic.partitions=1 --set load.rate=10k/s --set phases.measure=14m --set load.record.size=2kB" + elsewhere, "the runs store at least 16.8 GB, without replicas of existing topics, at a time, and the most is 10.0 GB", exitBadInput},
		"a tunnel":         {"run FILE --set load.rate=20k/s --dry-run --brokers localhost:9092 --cluster-id 5L6g3nShT-eMCtK--X86sw", "give --max-rate 20k/s", exitBadInput},
		"theirs, here":     {"run FILE --set load.rate=20k/s --dry-run --brokers localhost:9092", "", exitValid},
		"a closed loop":    {"run FILE --set load.rate=max" + elsewhere, "sends at most 10k/s: more may be possible", exitValid},
		"here":             {"run FILE --set load.rate=20k/s --dry-run --cluster embedded", "", exitValid},
		"here, if given":   {"run FILE --set load.rate=20k/s --dry-run --cluster embedded --max-rate 10k/s", "give --max-rate 20k/s", exitBadInput},
		"a search":         {"search FILE" + elsewhere, "at most     10k/s (--max-rate), ", exitValid},
		"a long search":    {"search FILE --probe 2m --confirm 2m" + elsewhere, "the search takes at least ", exitBadInput},
		"bytes of probes":  {"search FILE --max-bytes 100MB" + elsewhere, "the probes store up to ", exitBadInput},
		"their flag":       {"search FILE --max-bytes 100MB" + elsewhere, " at a time, and the most is 100 MB; if that is meant, give --max-bytes ", exitBadInput},
		"of a curve":       {"search FILE --curve-of 1/s --max-bytes 1MB" + elsewhere, "at most     10k/s (--max-rate), 1.00 MB stored", exitValid},
		"unbounded probes": {"search FILE --dry-run --cluster embedded --max-bytes 1GB", "--max-bytes: a search begins as fast as it goes, so that nothing bounds what it stores; give --max-rate too", exitBadInput},
		"unbounded bytes":  {"run FILE --set load.rate=max --dry-run --cluster embedded --max-bytes 1GB", "--max-bytes: scenario s sends as fast as it goes, so that nothing bounds what it stores", exitBadInput},
		"centuries":        {"run FILE --set phases.measure=720h --set repeat=1000 --set matrix.load.acks=[0,1,all] --set matrix.load.linger=[1ms,2ms] --dry-run --cluster embedded", "or take more than 2,562,047 h, and are no runs that can be made", exitBadInput},
		"too many bytes":   {"run FILE --set load.rate=max --set load.records=1099511627776 --set load.record.size=64MB --set load.batch=66MB --set topic.config.max.message.bytes=67000000 --dry-run --cluster kafka", "the runs send more than 9,223,372 TB", exitBadInput},
		"no rate":          {"run FILE --max-rate max", "give a rate above 0", exitBadInput},
		"a group":          {"run FILE --watch-group a=b", "write GROUP=RECORDS", exitBadInput},
		"a group of whom?": {"run FILE --watch-group billing", "--watch-group is for an existing cluster", exitBadInput},
		"anyway":           {"run FILE --anyway", "--anyway is for an existing cluster", exitBadInput},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := invokeIn(t, surroundings{offline: true}, strings.Fields(strings.Replace(test.args, "FILE", file, 1)+" --out "+t.TempDir())...)
			if got.code != test.code || !strings.Contains(got.stdout+got.stderr, test.want) {
				t.Errorf("exit code %d and\n%s%s\nwant %d and %q", got.code, got.stdout, got.stderr, test.code, test.want)
			}
			if test.want == "" && strings.Contains(got.stdout, "at most ") {
				t.Errorf("a cap on this machine:\n%s", got.stdout)
			}
		})
	}
}

// TestResumeChecksTheCaps: a campaign that was begun with other flags is held to those of the command that goes on with it.
func TestResumeChecksTheCaps(t *testing.T) {
	for text, c := range map[string]struct {
		args, want string
		code       int
	}{
		tiny: {"", "s: 2 runs\n", exitValid},
		strings.Replace(tiny, "200/s", "20k/s", 1):              {"", "offers up to 20k/s, and the most is 10k/s; if that is meant, give --max-rate 20k/s", exitBadInput},
		strings.Replace(tiny, "200/s", "19k/s", 1):              {"--max-rate 19k/s", "s: 2 runs\n", exitValid},
		strings.Replace(tiny, "200/s", "max", 1):                {"", "sends as fast as it goes, and the most is 10k/s; begin it again, without --resume", exitBadInput},
		strings.Replace(tiny, "partitions: 1", "fill: 11GB", 1): {"", "give --max-bytes ", exitBadInput},
		strings.Replace(tiny, "300ms", "10m", 1):                {"", "the runs take at least 20 min", exitBadInput},
	} {
		got := invokeIn(t, surroundings{offline: true}, strings.Fields("run --resume "+planned(t, write(t, text))+elsewhere+" "+c.args)...)
		if got.code != c.code || !strings.Contains(got.stdout+got.stderr, c.want) {
			t.Errorf("%s: exit code %d and\n%s%s\nwant %d and %q", text, got.code, got.stdout, got.stderr, c.code, c.want)
		}
	}
}
