package peers

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"

	"kafkabench.example/kafka-bench/internal/kafka/childenv"
	"kafkabench.example/kafka-bench/internal/kafka/cluster"
)

// Tools runs Kafka's tools on this machine with a cluster.
type Tools struct {
	Java    cluster.Java
	Dist    cluster.Dist
	Cluster cluster.Cluster
	// CommandConfig is the client properties file with the access to the cluster; "" is plain text.
	CommandConfig string
}

// jvmOptions are the options of Kafka's scripts. They set English, because only figures in English
// can be parsed.
var jvmOptions = []string{
	"-Xmx512M", "-server", "-XX:+UseG1GC", "-XX:MaxGCPauseMillis=20", "-XX:InitiatingHeapOccupancyPercent=35",
	"-XX:+ExplicitGCInvokesConcurrent", "-Djava.awt.headless=true", "-Duser.language=en", "-Duser.country=US", "-Duser.timezone=UTC",
}

// maxErrorBytes bounds how much of a tool's standard error is kept. It needs a bound, because the
// producer prints a stack trace for every record that fails.
const maxErrorBytes = 1 << 20

func (t Tools) run(ctx context.Context, class string, args ...string) (output []byte, err error) {
	args = append([]string{"--bootstrap-server", strings.Join(t.Cluster.Bootstrap(), ",")}, args...)
	if t.CommandConfig != "" {
		args = append(args, "--command-config", t.CommandConfig)
	}
	all := append(append([]string{}, jvmOptions...), "-cp", t.Dist.Classpath(), "org.apache.kafka.tools."+class)
	var stdout bytes.Buffer
	stderr := &head{limit: maxErrorBytes}
	cmd := exec.CommandContext(ctx, t.Java.Path, append(all, args...)...)
	cmd.Env = childenv.Java(cluster.AccessTo(t.Cluster).Variables()...)
	cmd.Stdout, cmd.Stderr = &stdout, stderr
	err = cmd.Run()
	output = fmt.Appendf(nil, "# %s %s\n", class, strings.Join(args, " "))
	output = append(append(output, stdout.Bytes()...), stderr.kept...)
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return output, &cluster.Error{
			Kind: cluster.ErrUnreachable, What: class + " did not finish in time",
			Remedy: "check that the cluster is healthy, and whether one producer can reach the rate",
			Log:    lastLines(output),
		}
	case ctx.Err() != nil:
		return output, ctx.Err()
	case err != nil:
		return output, fmt.Errorf("%s: %w; the end of its output:\n%s", class, err, strings.Join(lastLines(output), "\n"))
	}
	return output, nil
}

type head struct {
	kept  []byte
	limit int
}

func (h *head) Write(p []byte) (int, error) {
	h.kept = append(h.kept, p[:min(len(p), h.limit-len(h.kept))]...)
	return len(p), nil
}

func lastLines(output []byte) []string {
	const most = 8
	lines := strings.Split(strings.TrimSpace(string(output)), "\n")
	return lines[max(len(lines)-most, 0):]
}
