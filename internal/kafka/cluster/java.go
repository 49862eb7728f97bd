package cluster

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"kafkabench.example/kafka-bench/internal/kafka/childenv"
)

// minJava is the oldest Java for brokers of Kafka 4 (KIP-1013).
const minJava = 17

// Java is a Java runtime that is new enough for Kafka.
type Java struct {
	Path    string
	Version string // as it reports itself, for instance 17.0.15
}

const javaRemedy = "install a Java runtime of version 17 or later and have it in PATH or JAVA_HOME, " +
	"or use --cluster embedded or --brokers"

// FindJava finds java in JAVA_HOME or else in PATH, and reads its version. If it is missing or too old, the error
// is ErrUnavailable.
func FindJava(ctx context.Context) (Java, error) {
	path, err := javaPath()
	if err != nil {
		return Java{}, &Error{Kind: ErrUnavailable, What: "Kafka needs Java, and there is none", Cause: err,
			Remedy: javaRemedy}
	}
	cmd := exec.CommandContext(ctx, path, "-version")
	cmd.Env = childenv.Java()
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return Java{}, ctx.Err()
	}
	if err != nil {
		return Java{}, &Error{
			Kind: ErrUnavailable, What: path + " -version failed", Cause: err,
			Remedy: javaRemedy, Log: lastLines(string(out), 5),
		}
	}
	version, feature, err := parseJavaVersion(string(out))
	if err != nil {
		return Java{}, &Error{Kind: ErrUnavailable, What: path + " -version", Cause: err, Remedy: javaRemedy}
	}
	if feature < minJava {
		return Java{}, &Error{
			Kind:   ErrUnavailable,
			What:   fmt.Sprintf("Kafka needs Java %d or later, and %s is %s", minJava, path, version),
			Remedy: javaRemedy,
		}
	}
	return Java{Path: path, Version: version}, nil
}

func javaPath() (string, error) {
	if home := os.Getenv("JAVA_HOME"); home != "" {
		return exec.LookPath(filepath.Join(home, "bin", "java"))
	}
	return exec.LookPath("java")
}

var javaVersionPattern = regexp.MustCompile(`version "((\d+)(?:\.(\d+))?[^"]*)"`)

// Up to Java 8 the feature number is the second one (1.8.0).
func parseJavaVersion(out string) (version string, feature int, err error) {
	m := javaVersionPattern.FindStringSubmatch(out)
	if m == nil {
		return "", 0, fmt.Errorf("no version in %q", strings.TrimSpace(out))
	}
	digits := m[2]
	if digits == "1" && m[3] != "" {
		digits = m[3]
	}
	feature, err = strconv.Atoi(digits)
	if err != nil {
		return "", 0, fmt.Errorf("version %q: %w", m[1], err)
	}
	return m[1], feature, nil
}

// CanRunKafka returns why this machine can't start a Kafka of a release line ("" is the default line). It starts no
// broker and downloads nothing. It runs only java -version.
func (h Home) CanRunKafka(ctx context.Context, line string) error {
	v, err := versionOf(line)
	if err != nil {
		return err
	}
	if _, err := FindJava(ctx); err != nil {
		return err
	}
	if h.dist(v).checkSizes() == nil {
		return nil
	}
	_, err = FindMaven()
	return err
}
