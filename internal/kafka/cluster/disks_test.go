package cluster

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestDiskFault(t *testing.T) {
	dir := t.TempDir()
	if problem, _ := DiskFault(dir); problem != "" {
		t.Errorf("a good folder: %s", problem)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("%v is left behind", left)
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	bad := map[string]string{
		filepath.Join(dir, "none"):    "does not exist",
		file:                          "is not a folder",
		filepath.Join(file, "deeper"): "can't be read",
		dir + ",b":                    "has a comma",
	}
	if runtime.GOOS == "linux" {
		bad["/proc"] = "can't be written to"
	}
	for dir, want := range bad {
		problem, remedy := DiskFault(dir)
		if !strings.Contains(problem, want) || !strings.Contains(problem, dir) || remedy == "" {
			t.Errorf("%s: %q, %q; want %q", dir, problem, remedy, want)
		}
	}
	problem, remedy := fullDisk(dir, 300<<20)
	if !strings.Contains(problem, "300 MiB free, and 1024 MiB are needed") || !strings.Contains(remedy, "free 724 MiB") {
		t.Errorf("%q, %q", problem, remedy)
	}
	wantError(t, KafkaOptions{Disks: []string{dir, dir, file}}.Validate(), ErrInput, "named twice", "is not a folder")
}

func TestRemoveCluster(t *testing.T) {
	disk, dir, id := t.TempDir(), filepath.Join(t.TempDir(), "cluster-x"), newClusterID()
	own, err := diskFolders([]string{disk}, id)
	if err != nil {
		t.Fatal(err)
	}
	l := layout{clusterID: id, disks: own}
	if err := l.makeDisks(); err != nil {
		t.Fatal(err)
	}
	wantError(t, l.makeDisks(), ErrUnavailable, own[0])
	other := filepath.Join(disk, "other")
	for _, dir := range []string{dir, other, filepath.Join(own[0], "data-1")} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	r := record{Version: recordVersion, ClusterID: id, Disks: []string{own[0], other, disk}}
	if err := writeJSON(filepath.Join(dir, recordName), r); err != nil {
		t.Fatal(err)
	}
	if err := removeCluster(dir); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(disk)
	if err != nil || len(left) != 1 || left[0].Name() != "other" {
		t.Errorf("%v is left on the disk, %v", left, err)
	}
}

func TestAgain(t *testing.T) {
	disk := t.TempDir()
	r := record{Name: "x", Brokers: []brokerRecord{{ID: 1, Port: 20001}, {ID: 2, Port: 20002}}, Options: &recordOptions{
		Version: "4.0", Brokers: 2, HeapBytes: 1 << 30, JVM: []string{"-Xss1m"}, Disks: []string{disk},
	}}
	again, err := r.again(KafkaOptions{Config: map[string]string{"num.io.threads": "2"}})
	if err != nil {
		t.Fatal(err)
	}
	if again.Version != "4.0" || again.Brokers != 2 || again.HeapBytes != 1<<30 || len(again.JVM) != 1 ||
		len(again.Config) != 1 || again.Disks[0] != disk || again.Ports[1] != 20002 {
		t.Errorf("%+v", again)
	}
	for _, opts := range []KafkaOptions{{Version: "4.3"}, {Brokers: 3}, {Disks: []string{t.TempDir()}}} {
		_, err := r.again(opts)
		wantError(t, err, ErrInput, `"x" was kept`, "Kafka 4.0", "brokers: 2", disk, "cluster down")
	}
	r.Disks = []string{filepath.Join(disk, "gone")}
	_, err = r.again(KafkaOptions{})
	wantError(t, err, ErrInput, "are gone", "cluster down")
}
