//go:build full

package kafkabench_test

import (
	"archive/zip"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const outsideVersion = "v0.0.1"

const outsideProgram = `package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kgo"

	"MODULE/backpressure"
	"MODULE/backpressure/kgogate"
	"MODULE/kmq"
)

func main() {
	client, err := kgo.NewClient(kgo.RequiredAcks(kgo.NoAck()), kgo.DisableIdempotentWrite())
	if err != nil {
		panic(err)
	}
	defer client.Close()
	_, err = kgogate.Open(context.Background(), client, kgogate.Config{
		Group: "billing", Topics: []string{"orders"}, Gate: backpressure.Config{Controller: backpressure.Credit{MaxLag: 100}},
	})
	fmt.Println("kgogate refuses a client without acknowledgements:", err != nil)
	_, err = kmq.Open(context.Background(), kmq.Config{})
	fmt.Println("kmq refuses an empty config:", errors.Is(err, kmq.ErrConfig))
}
`

const outsideOutput = `kgogate refuses a client without acknowledgements: true
kmq refuses an empty config: true
`

// outsideTest is a test of a handler as another team writes it.
const outsideTest = `package main

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"MODULE/kmq"
	"MODULE/kmq/kmqtest"
)

func charge(_ context.Context, d kmq.Delivery) error {
	switch {
	case string(d.Record.Value) == "no customer":
		return kmq.Reject{Reason: "no such customer"}
	case d.Attempt() < 3:
		return errors.New("the bank does not answer")
	}
	return nil
}

func TestCharge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := kmqtest.Open(t, kmqtest.Config{Retry: func(int, error) time.Duration { return time.Hour }})
		q.Produce(&kgo.Record{Value: []byte("order")}, &kgo.Record{Value: []byte("no customer")})
		start := time.Now()
		if err := q.RunUntilIdle(charge, kmq.RunConfig{}); err != nil {
			t.Fatal(err)
		}
		if acked := q.Acked(); len(acked) != 1 || string(acked[0].Value) != "order" || time.Since(start) < time.Second {
			t.Errorf("%d records are acknowledged after %v", len(acked), time.Since(start))
		}
		if dead := q.DeadLetters(); len(dead) != 1 || string(dead[0].Value) != "no customer" {
			t.Errorf("there are %d dead letters", len(dead))
		}
	})
	d := kmqtest.Delivery(&kgo.Record{Value: []byte("no customer")})
	if _, rejected := errors.AsType[kmq.Reject](charge(t.Context(), d)); !rejected {
		t.Error("an order without a customer is not rejected")
	}
}
`

func TestOutsideModule(t *testing.T) {
	module := command(t, ".", nil, "go", "list", "-m")
	proxy, program := t.TempDir(), t.TempDir()
	publish(t, filepath.Join(proxy, module, "@v"), module)
	write(t, filepath.Join(program, "main.go"), strings.ReplaceAll(outsideProgram, "MODULE", module))
	write(t, filepath.Join(program, "main_test.go"), strings.ReplaceAll(outsideTest, "MODULE", module))
	write(t, filepath.Join(program, "go.mod"), "module example.com/outside\n\ngo 1.26.0\n\nrequire "+module+" "+outsideVersion+"\n")

	downloads := filepath.Join(command(t, ".", nil, "go", "env", "GOMODCACHE"), "cache", "download")
	env := []string{
		"GOPROXY=file://" + proxy + ",file://" + downloads + "," + command(t, ".", nil, "go", "env", "GOPROXY"),
		"GOSUMDB=off", "GOWORK=off", "GOFLAGS=-mod=mod -modcacherw -trimpath", "GOMODCACHE=" + t.TempDir(),
	}
	if got := command(t, program, env, "go", "run", "."); got+"\n" != outsideOutput {
		t.Errorf("the program printed\n%s\nwant\n%s", got, outsideOutput)
	}
	if got := command(t, program, env, "go", "test", "."); !strings.HasPrefix(got, "ok") {
		t.Errorf("the test printed\n%s", got)
	}
}

func publish(t *testing.T, dir, module string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	info, err := json.Marshal(map[string]any{"Version": outsideVersion, "Time": time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)})
	if err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "list"), outsideVersion+"\n")
	write(t, filepath.Join(dir, outsideVersion+".info"), string(info))
	write(t, filepath.Join(dir, outsideVersion+".mod"), string(mod))

	archive, err := os.Create(filepath.Join(dir, outsideVersion+".zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	files := zip.NewWriter(archive)
	// The public packages import nothing else of the module (TestWalls).
	for _, part := range []string{"go.mod", "backpressure", "kmq", "internal/lagcontrol"} {
		err := filepath.WalkDir(part, func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			content, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			file, err := files.Create(module + "@" + outsideVersion + "/" + filepath.ToSlash(name))
			if err != nil {
				return err
			}
			_, err = file.Write(content)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := files.Close(); err != nil {
		t.Fatal(err)
	}
}

func command(t *testing.T, dir string, env []string, name string, args ...string) string {
	t.Helper()
	var stderr strings.Builder
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env, cmd.Stderr = dir, append(os.Environ(), env...), &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, stderr.String())
	}
	return strings.TrimSpace(string(out))
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}
