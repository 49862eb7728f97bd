package cluster

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestParseJavaVersion(t *testing.T) {
	tests := []struct {
		out     string
		version string
		feature int
	}{
		{"openjdk version \"17.0.15\" 2025-04-15\nOpenJDK Runtime Environment", "17.0.15", 17},
		{"Picked up JAVA_TOOL_OPTIONS: -Dx\njava version \"1.8.0_292\"\n", "1.8.0_292", 8},
		{"openjdk version \"21\" 2023-09-19", "21", 21},
		{"openjdk version \"26-ea\" 2026-03-17", "26-ea", 26},
	}
	for _, test := range tests {
		version, feature, err := parseJavaVersion(test.out)
		if version != test.version || feature != test.feature || err != nil {
			t.Errorf("parseJavaVersion(%q) = %q, %d, %v; want %q, %d", test.out, version, feature, err, test.version, test.feature)
		}
	}
	for _, out := range []string{"", "bash: java: not found", `version ""`, `version "x"`} {
		if _, _, err := parseJavaVersion(out); err == nil {
			t.Errorf("parseJavaVersion(%q) is not an error", out)
		}
	}
}

func FuzzParseJavaVersion(f *testing.F) {
	f.Add("openjdk version \"17.0.15\" 2025-04-15")
	f.Add("java version \"1.8.0_292\"")
	f.Fuzz(func(t *testing.T, out string) {
		version, feature, err := parseJavaVersion(out)
		if err == nil && (version == "" || feature < 0 || !strings.Contains(out, version)) {
			t.Errorf("parseJavaVersion(%q) = %q, %d", out, version, feature)
		}
	})
}

func TestFindJavaFails(t *testing.T) {
	tests := map[string]struct {
		script string
		words  []string
	}{
		"missing": {"", []string{"needs Java, and there is none", "JAVA_HOME"}},
		"too old": {`echo 'openjdk version "11.0.2" 2019-01-15' >&2`, []string{"Java 17 or later", "11.0.2"}},
		"a stub":  {`echo "Unable to locate a Java Runtime." >&2; exit 1`, []string{"-version failed", "Unable to locate"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if test.script != "" {
				if err := os.WriteFile(filepath.Join(dir, "java"), []byte("#!/bin/sh\n"+test.script+"\n"), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			t.Setenv("PATH", dir)
			t.Setenv("JAVA_HOME", "")
			home := testHome(t)
			_, err := home.StartKafka(testContext(t), KafkaOptions{})
			wantError(t, err, ErrUnavailable, append(test.words, "install a Java runtime of version 17")...)
			wantEmpty(t, home)
			if err := home.CanRunKafka(testContext(t), ""); err == nil {
				t.Error("CanRunKafka() says yes")
			}
		})
	}
}

func TestJavaHomeComesFirst(t *testing.T) {
	home := t.TempDir()
	if err := os.Mkdir(filepath.Join(home, "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	want := filepath.Join(home, "bin", "java")
	if err := os.WriteFile(want, []byte("#!/bin/sh\necho 'openjdk version \"99\"'\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("JAVA_HOME", home)
	if java, err := FindJava(testContext(t)); err != nil || java.Path != want || java.Version != "99" {
		t.Errorf("FindJava() = %+v, %v", java, err)
	}
}
