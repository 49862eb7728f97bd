// Package needs lists the programs that some tests need beyond Go. If make test has found that one
// is missing, it leaves those tests out and counts them. In any other call of go test they run,
// and fail.
package needs

import (
	"fmt"
	"os"
	"testing"
)

// Need is something that some tests need.
type Need struct {
	Program  string // as in "Java and Maven"
	Packages string // Debian's packages that bring it
	Tests    string // what is left out without it
	variable string // names the file that lists the tests left out
}

var (
	Kafka = Need{"Java 17 and Maven", "openjdk-17-jdk-headless maven", "tests on a real Kafka",
		"KAFKA_BENCH_WITHOUT_KAFKA"}
	Prometheus = Need{"Prometheus with promtool", "prometheus", "tests on a real Prometheus",
		"KAFKA_BENCH_WITHOUT_PROMETHEUS"}
	Compiler = Need{"a C compiler", "gcc libc6-dev", "tests and binary of the driver librdkafka",
		"KAFKA_BENCH_WITHOUT_COMPILER"}
)

// Without returns the environment variable that leaves the need's tests out, and lists them in file.
func (n Need) Without(file string) string { return n.variable + "=" + file }

// Require leaves the test out if the need is missing, as the environment says.
func (n Need) Require(t testing.TB) {
	t.Helper()
	path := os.Getenv(n.variable)
	if path == "" {
		return
	}
	list, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer list.Close()
	if _, err := fmt.Fprintln(list, t.Name()); err != nil {
		t.Fatal(err)
	}
	t.Skip("left out: it needs " + n.Program)
}
