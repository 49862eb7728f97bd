//go:build proof

package proof_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// release is the version of k8s.io/kubernetes in go.mod, which its programs must print.
const release = "1.34.4"

// buildPrograms builds Kubernetes, kubectl and helm into a folder of the user's cache, and returns
// the folder. The first time takes some ten minutes on two cores.
func buildPrograms(t *testing.T) string {
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(cache, "kafka-bench", "kubernetes-v"+release)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	part := strings.Split(release, ".")
	flags := "-s -w"
	for _, setting := range []string{"gitVersion=v" + release, "gitMajor=" + part[0], "gitMinor=" + part[1]} {
		flags += " -X k8s.io/component-base/version." + setting
	}
	run(t, "go", "build", "-ldflags", flags, "-o", folder+"/", "tool")
	run(t, "go", "build", "-C", "../check", "-ldflags", "-s -w", "-o", folder+"/", "tool")
	return folder
}

// run runs a command and returns what it prints to standard output.
func run(t *testing.T, words ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), words[0], words[1:]...)
	var errors bytes.Buffer
	cmd.Stderr = &errors
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v: %s%s", strings.Join(words, " "), err, out, errors.Bytes())
	}
	return string(out)
}

// await waits until something holds. The limit is for a proof that has gone wrong.
func await(t *testing.T, limit time.Duration, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(limit); !holds(); time.Sleep(500 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not within %v", what, limit)
		}
	}
}
