// Command image writes a container image of kafka-bench for linux/amd64 and linux/arm64.
//
//	image -o build/kafka-bench.tar -version v1.2.0
//
// The file is a tar of an OCI image layout. The image has the binary, which contains root
// certificates, and an empty /tmp, but no shell and no files of a distribution. It runs as user
// 65532. Two builds of one tree with one Go have the same bytes. Entries are sorted, and every time
// is SOURCE_DATE_EPOCH (seconds since 1970), or the start of 1970 if this is empty. With -program
// the image has another main package.
//
// Files to know: main.go (the binaries), layout.go (the image).
package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

var architectures = []string{"amd64", "arm64"}

func run(ctx context.Context, args []string, stdout io.Writer) error {
	flags := flag.NewFlagSet("image", flag.ContinueOnError)
	out := flags.String("o", "build/kafka-bench.tar", "the `FILE` to write")
	version := flags.String("version", "development", "the `VERSION` that the binary prints, and the image's tag")
	commit := flags.String("commit", "", "the `COMMIT` that the binary prints")
	program := flags.String("program", "./cmd/kafka-bench", "the main `PACKAGE` in the image")
	if err := flags.Parse(args); err != nil {
		return err
	}
	at, err := epoch(os.Getenv("SOURCE_DATE_EPOCH"))
	if err != nil {
		return err
	}
	binaries := make(map[string][]byte)
	for _, arch := range architectures {
		if binaries[arch], err = compile(ctx, *program, arch, "-X main.version="+*version+" -X main.commit="+*commit); err != nil {
			return err
		}
	}
	image, err := layout(path.Base(*program), *version, at, binaries)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(*out), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(*out, image, 0o644); err != nil {
		return err
	}
	fmt.Fprintf(stdout, "%x  %s\n", sha256.Sum256(image), *out)
	return nil
}

// epoch parses seconds since 1970; "" means 1970.
func epoch(text string) (time.Time, error) {
	if text == "" {
		return time.Unix(0, 0).UTC(), nil
	}
	seconds, err := strconv.ParseUint(text, 10, 33) // the bits of a tar header
	if err != nil {
		return time.Time{}, fmt.Errorf("SOURCE_DATE_EPOCH: give seconds since 1970, as git log -1 --format=%%ct prints: %w", err)
	}
	return time.Unix(int64(seconds), 0).UTC(), nil
}

// The settings that change the bytes are fixed. The binary contains its version, because a
// coordinator refuses agents of another version.
func compile(ctx context.Context, program, arch, names string) ([]byte, error) {
	folder, err := os.MkdirTemp("", "kafka-bench-image-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	file := filepath.Join(folder, path.Base(program))
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-tags=rootcerts",
		"-ldflags=-s -w -buildid= "+names, "-o", file, program)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+arch, "GOAMD64=v1", "GOARM64=v8.0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go build for linux/%s: %w\n%s", arch, err, out)
	}
	return os.ReadFile(file)
}
