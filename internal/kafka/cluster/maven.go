package cluster

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/childenv"
)

// resolveTimeout bounds a resolve: 55 MB over a slow connection.
const resolveTimeout = 15 * time.Minute

// FindMaven finds mvn in PATH. The error is ErrUnavailable.
func FindMaven() (string, error) {
	path, err := exec.LookPath("mvn")
	if err != nil {
		return "", &Error{
			Kind: ErrUnavailable, What: "Kafka is resolved with Maven, and there is none", Cause: err,
			Remedy: "install Maven 3.6 or later and have it in PATH, or use --cluster embedded or --brokers",
		}
	}
	return path, nil
}

// The user's Maven configuration chooses the repository.
func runMaven(ctx context.Context, v version, work string) error {
	path, err := FindMaven()
	if err != nil {
		return err
	}
	file := filepath.Join(work, "pom.xml")
	if err := os.WriteFile(file, pom, 0o644); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, resolveTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, append(v.properties(), "--batch-mode", "--quiet", "--file", file,
		"dependency:copy-dependencies@lib", "dependency:copy-dependencies@agent", "-Ddist="+filepath.Join(work, "dist"))...)
	cmd.Dir, cmd.Env = work, mavenEnvironment(path)
	// mvn is a script around java: Cancel kills its whole process group.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return fmt.Errorf("resolving Kafka %s with Maven: %w", v.Kafka, ctx.Err())
	}
	if err != nil {
		return mavenError(v.Kafka, string(out), err)
	}
	return nil
}

// settingsVariable is a variable of the environment in Maven's settings.xml.
var settingsVariable = regexp.MustCompile(`\$\{env\.([A-Za-z_][A-Za-z0-9_]*)\}`)

// mavenEnvironment also has the variables that the settings of the user, of this Maven, and of MAVEN_ARGS name, because
// they may be the password of a mirror.
func mavenEnvironment(mvn string) []string {
	named := []string{"MAVEN_*", "M2_HOME"}
	files := strings.FieldsFunc(os.Getenv("MAVEN_ARGS"), func(r rune) bool { return r == ' ' || r == '=' })
	if home, err := os.UserHomeDir(); err == nil {
		files = append(files, filepath.Join(home, ".m2", "settings.xml"))
	}
	if program, err := filepath.EvalSymlinks(mvn); err == nil {
		files = append(files, filepath.Join(filepath.Dir(program), "..", "conf", "settings.xml"))
	}
	for _, file := range files {
		content, _ := os.ReadFile(file) // most words of MAVEN_ARGS are no files
		for _, found := range settingsVariable.FindAllSubmatch(content, -1) {
			named = append(named, string(found[1]))
		}
	}
	return childenv.Java(named...)
}

var offlinePattern = regexp.MustCompile(`(?i)could not transfer|unknown host|connection (refused|reset|timed out)|connect timed out|` +
	`network is unreachable|temporary failure in name resolution|offline mode|no route to host`)

func mavenError(kafka, out string, cause error) error {
	remedy := "try mvn on another project to see whether Maven itself works, or use --cluster embedded or --brokers"
	if offlinePattern.MatchString(out) {
		remedy = "the first start needs the network, later ones don't: connect it, or name your proxy or mirror in Maven's settings.xml, " +
			"or use --cluster embedded or --brokers"
	}
	return &Error{
		Kind: ErrUnavailable, What: "Maven could not resolve Kafka " + kafka, Cause: cause,
		Remedy: remedy, Log: lastLines(out, 8),
	}
}
