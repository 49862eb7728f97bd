package calibrate

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
)

func TestMeasureDisk(t *testing.T) {
	dir := t.TempDir()
	d, err := MeasureDisk(t.Context(), dir, DiskPlan{Bytes: 3 << 20, Length: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	if d.Folder != dir || d.WriteBytesPerS <= 0 || d.FsyncsPerS*fsyncBlock != d.FsyncBytesPerS {
		t.Errorf("%+v", d)
	}
	for _, each := range []bool{false, true} {
		written, fsyncs, took, err := writes(t.Context(), dir, DiskPlan{Bytes: 3 << 20, Length: time.Hour}, writeBlock, each)
		want := 1
		if each {
			want = 3
		}
		if written != 3<<20 || fsyncs != want || took <= 0 || err != nil {
			t.Errorf("%d bytes, %d fsyncs, %v, %v", written, fsyncs, took, err)
		}
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := MeasureDisk(over, dir, QuickDisk()); !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v", err)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("%v is left behind", left)
	}
	if _, err := MeasureDisk(t.Context(), filepath.Join(dir, "none"), QuickDisk()); !errors.Is(err, cluster.ErrInput) {
		t.Errorf("err = %v", err)
	}
}

func TestSetDisk(t *testing.T) {
	c := made(nil)
	c.SetDisk(Disk{Name: "vda", Folder: "/a", WriteBytesPerS: 1})
	c.SetDisk(Disk{Name: "vdb", Folder: "/b", WriteBytesPerS: 2})
	c.SetDisk(Disk{Name: "vda", Folder: "/c", WriteBytesPerS: 3})
	c.SetDisk(Disk{Folder: "/d", WriteBytesPerS: 4}) // its device is unknown
	if want := map[string]float64{"vda": 3, "vdb": 2}; !reflect.DeepEqual(c.DiskYardsticks(), want) || len(c.Disks) != 3 {
		t.Errorf("%v of %+v", c.DiskYardsticks(), c.Disks)
	}
	if got := (*Calibration)(nil).DiskYardsticks(); len(got) > 0 {
		t.Errorf("no calibration has %v", got)
	}
}
