package cluster

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestBrokersGetNoSecretOfTheEnvironment(t *testing.T) {
	t.Setenv("KAFKA_PASSWORD", "canary-in-the-environment")
	t.Setenv("LC_ALL", "C")
	k := &Kafka{dist: Dist{}, java: Java{Path: "java"}}
	cmd := k.command(1, nil, "kafka.Kafka")
	if all := strings.Join(append(cmd.Env, cmd.Args...), "\n"); strings.Contains(all, "canary") || !strings.Contains(all, "LC_ALL=C") || !strings.Contains(all, "PATH=") {
		t.Errorf("a broker's process gets\n%s", all)
	}
}

// Maven gets the variables that its settings name: they may be the password of a mirror.
func TestMavenGetsVariablesOfItsSettings(t *testing.T) {
	home, folder := t.TempDir(), t.TempDir()
	for path, text := range map[string]string{
		filepath.Join(home, ".m2", "settings.xml"): "<password>${env.MIRROR_PASSWORD}</password>",
		filepath.Join(folder, "more.xml"):          "<username>${env.MORE_USER}</username>",
	} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"MIRROR_PASSWORD", "MORE_USER", "KAFKA_PASSWORD"} {
		t.Setenv(name, "canary-"+name)
	}
	t.Setenv("HOME", home)
	t.Setenv("MAVEN_ARGS", "-o --settings="+filepath.Join(folder, "more.xml"))
	fakeMaven(t, `env > "`+folder+`/environment"`+"\n"+copyJars)
	if _, err := (Home{Dist: t.TempDir()}).KafkaDist(testContext(t), "", nil); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(folder, "environment"))
	if got := string(text); err != nil || strings.Contains(got, "canary-KAFKA_PASSWORD") || !strings.Contains(got, "canary-MIRROR_PASSWORD") ||
		!strings.Contains(got, "canary-MORE_USER") || !strings.Contains(got, "MAVEN_ARGS=") {
		t.Errorf("%v, Maven gets\n%s", err, got)
	}
}
