package cluster

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The script fills the folders $lib and $agent.
func fakeMaven(t *testing.T, script string) {
	t.Helper()
	dir := t.TempDir()
	text := "#!/bin/sh\nfor a; do case $a in -Ddist=*) lib=${a#-Ddist=}/lib agent=${a#-Ddist=}/agent;; esac; done\n" + script + "\n"
	if err := os.WriteFile(filepath.Join(dir, "mvn"), []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
}

const copyJars = `mkdir -p "$lib" "$agent" && for j in kafka_2.13-4.3.1 kafka-tools-4.3.1 other; do echo $j > "$lib/$j.jar"; done; ` +
	`echo agent > "$agent/jmx_prometheus_javaagent-1.0.1.jar"`

func TestFetchedFolder(t *testing.T) {
	fakeMaven(t, "exit 1")
	fetched := filepath.Join(t.TempDir(), "fetched")
	for _, name := range []string{"lib/kafka_2.13-4.3.1.jar", "lib/kafka-tools-4.3.1.jar", "agent/jmx_prometheus_javaagent-1.0.1.jar"} {
		path := filepath.Join(fetched, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(name), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv(fetchedVariable, fetched)
	home := Home{Dist: t.TempDir()}
	if _, err := home.KafkaDist(testContext(t), "4.2", nil); err == nil {
		t.Error("another version was taken from the folder")
	}
	dist, err := home.KafkaDist(testContext(t), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := dist.Verify(); err != nil {
		t.Error(err)
	}
}

func TestDamagedCopyIsResolvedAgain(t *testing.T) {
	fakeMaven(t, copyJars)
	lib := func(d Dist, name string) string { return filepath.Join(d.Lib(), name) }
	damages := map[string]struct {
		damage func(Dist) error
		quick  bool
	}{
		"jar missing":         {func(d Dist) error { return os.Remove(lib(d, "other.jar")) }, true},
		"jar cut short":       {func(d Dist) error { return os.Truncate(lib(d, "other.jar"), 2) }, true},
		"jar too many":        {func(d Dist) error { return os.WriteFile(lib(d, "more.jar"), nil, 0o644) }, true},
		"agent missing":       {func(d Dist) error { return os.Remove(d.Agent()) }, true},
		"agent too many":      {func(d Dist) error { return os.WriteFile(d.Agent()+".jar", nil, 0o644) }, true},
		"agent changed":       {func(d Dist) error { return os.WriteFile(d.Agent(), []byte("agenx\n"), 0o644) }, false},
		"no jars":             {func(d Dist) error { return os.RemoveAll(d.Lib()) }, true},
		"no manifest":         {func(d Dist) error { return os.Remove(filepath.Join(d.Dir, manifestName)) }, true},
		"half a manifest":     {func(d Dist) error { return os.Truncate(filepath.Join(d.Dir, manifestName), 40) }, true},
		"manifest of another": {func(d Dist) error { return writeJSON(filepath.Join(d.Dir, manifestName), manifest{Version: 99}) }, true},
		"a byte changed":      {func(d Dist) error { return os.WriteFile(lib(d, "other.jar"), []byte("othex\n"), 0o644) }, false},
	}
	for name, c := range damages {
		t.Run(name, func(t *testing.T) {
			home := Home{Dist: t.TempDir()}
			dist, err := home.KafkaDist(testContext(t), "", nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := c.damage(dist); err != nil {
				t.Fatal(err)
			}
			if err := dist.Verify(); err == nil {
				t.Error("Verify() found nothing")
			}
			told := ""
			if _, err := home.KafkaDist(testContext(t), "", func(s string) { told += s }); err != nil {
				t.Fatal(err)
			}
			if resolved := told != ""; resolved != c.quick {
				t.Errorf("resolved again: %v, want %v (%s)", resolved, c.quick, told)
			}
			if err := dist.Verify(); (err == nil) != c.quick {
				t.Errorf("after the second call: %v", err)
			}
		})
	}
}

func TestResolveFails(t *testing.T) {
	tests := map[string]struct {
		script string
		words  []string
	}{
		"offline": {
			`echo "[ERROR] Could not transfer artifact org.apache.kafka:kafka_2.13:pom:4.3.1: Unknown host"; exit 1`,
			[]string{"Maven could not resolve Kafka 4.3.1", "needs the network", "settings.xml", "Unknown host"},
		},
		"otherwise": {
			`echo "[ERROR] The JAVA_HOME environment variable is not defined correctly"; exit 1`,
			[]string{"Maven could not resolve", "another project", "JAVA_HOME"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			fakeMaven(t, test.script)
			home := Home{Dist: t.TempDir()}
			_, err := home.KafkaDist(testContext(t), "", nil)
			wantError(t, err, ErrUnavailable, test.words...)
			wantOnlyLocks(t, home.Dist)
		})
	}
	for missing, script := range map[string]string{
		"kafka_2.13-4.3.1.jar":               `mkdir -p "$lib" "$agent"; echo x > "$lib/other.jar"`,
		"jmx_prometheus_javaagent-1.0.1.jar": copyJars + `; rm "$agent"/*`,
	} {
		t.Run("without "+missing, func(t *testing.T) {
			fakeMaven(t, script)
			home := Home{Dist: t.TempDir()}
			_, err := home.KafkaDist(testContext(t), "", nil)
			if err == nil || !strings.Contains(err.Error(), missing) {
				t.Errorf("error %v, want the missing jar", err)
			}
			wantOnlyLocks(t, home.Dist)
		})
	}
}

func TestCondemnDamagedCopy(t *testing.T) {
	fakeMaven(t, copyJars)
	home := Home{Dist: t.TempDir()}
	dist, err := home.KafkaDist(testContext(t), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := dist.condemn(); err != nil {
		t.Errorf("condemned a good copy: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dist.Lib(), "other.jar"), []byte("othex\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	wantError(t, dist.condemn(), ErrUnavailable, "other.jar", "start again")
	if dist, err = home.KafkaDist(testContext(t), "", nil); err != nil {
		t.Fatal(err)
	}
	if err := dist.Verify(); err != nil {
		t.Errorf("the copy was not resolved again: %v", err)
	}
}

func wantOnlyLocks(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".lock") {
			t.Errorf("%s is left behind", e.Name())
		}
	}
}

func TestMissingMaven(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	home := Home{Dist: t.TempDir()}
	_, err := home.KafkaDist(testContext(t), "", nil)
	wantError(t, err, ErrUnavailable, "Maven", "PATH", "--cluster embedded")

	dist := home.dist(versions[len(versions)-1])
	for _, jar := range []string{filepath.Join(dist.Lib(), "kafka_2.13-4.3.1.jar"), filepath.Join(dist.Lib(), "kafka-tools-4.3.1.jar"), dist.Agent()} {
		if err := os.MkdirAll(filepath.Dir(jar), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(jar, []byte(jar), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := dist.writeManifest(); err != nil {
		t.Fatal(err)
	}
	if _, err := home.KafkaDist(testContext(t), "", nil); err != nil {
		t.Errorf("a complete copy without Maven: %v", err)
	}
}

func TestUnwritableFolders(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := Home{Dist: filepath.Join(file, "dist")}.KafkaDist(testContext(t), "", nil)
	wantError(t, err, ErrUnavailable, file, "XDG_CACHE_HOME")
	_, _, err = Home{Clusters: filepath.Join(file, "clusters")}.claimFolder(testContext(t), randomFolder(), false)
	wantError(t, err, ErrUnavailable, file, "XDG_CACHE_HOME")
}

func TestCheckDisk(t *testing.T) {
	if err := checkDisk("/x", 1<<30, 1<<30); err != nil {
		t.Errorf("just enough: %v", err)
	}
	wantError(t, checkDisk("/x", 300<<20, 1<<30), ErrUnavailable, "/x has 300 MiB free", "1024 MiB are needed", "free 724 MiB")
	wantError(t, needDisk(t.TempDir(), 1<<62), ErrUnavailable, "MiB free")
}

func TestLockIsExclusive(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	first, err := tryLock(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tryLock(path); !errors.Is(err, errLocked) {
		t.Errorf("the second lock: %v", err)
	}
	waited := make(chan struct{})
	go func() {
		<-waited
		first.unlock()
	}()
	second, err := lockFile(testContext(t), path, func() { close(waited) })
	if err != nil {
		t.Fatal(err)
	}
	second.unlock()
}
