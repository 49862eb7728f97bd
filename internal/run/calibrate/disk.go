package calibrate

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/kafka/probe"
)

// Disk is the measured speed of sequential writes to one disk.
type Disk struct {
	Name   string    `json:"name"` // as in runs, for example vda; "" if the system does not report it
	Folder string    `json:"folder"`
	MadeAt time.Time `json:"made_at"` // UTC
	// WriteBytesPerS is measured with blocks of 1 MiB. The time includes one fsync at the end.
	WriteBytesPerS float64 `json:"write_bytes_per_s"`
	// FsyncsPerS and FsyncBytesPerS are with blocks of 64 KiB and an fsync after each.
	FsyncsPerS     float64 `json:"fsyncs_per_s"`
	FsyncBytesPerS float64 `json:"fsync_bytes_per_s"`
}

// DiskPlan bounds each of the two measurements: each ends at the first bound that it reaches.
type DiskPlan struct {
	Bytes  int64
	Length time.Duration
}

// FullDisk writes at most 4 GiB in total.
func FullDisk() DiskPlan { return DiskPlan{Bytes: 2 << 30, Length: 10 * time.Second} }

// QuickDisk writes at most a quarter of what FullDisk writes.
func QuickDisk() DiskPlan { return DiskPlan{Bytes: 512 << 20, Length: 2500 * time.Millisecond} }

const (
	writeBlock = 1 << 20
	fsyncBlock = 64 << 10 // the default of load.batch
)

// MeasureDisk measures the disk of a folder, with a file that it removes. If brokers can't keep
// logs in the folder, the error has the kind cluster.ErrInput.
func MeasureDisk(ctx context.Context, folder string, plan DiskPlan) (d Disk, err error) {
	folder, err = filepath.Abs(folder)
	if err != nil {
		return Disk{}, fmt.Errorf("the folder of a disk: %w", err)
	}
	if problem, remedy := cluster.DiskFault(folder); problem != "" {
		return Disk{}, &cluster.Error{Kind: cluster.ErrInput, What: problem, Remedy: remedy}
	}
	free, err := cluster.FreeDisk(folder)
	if err != nil {
		return Disk{}, err
	}
	plan.Bytes = min(plan.Bytes, free/2)
	d = Disk{Name: probe.DiskOf(folder), Folder: folder, MadeAt: time.Now().UTC()}
	written, _, took, err := writes(ctx, folder, plan, writeBlock, false)
	if err != nil {
		return Disk{}, err
	}
	d.WriteBytesPerS = float64(written) / took.Seconds()
	written, fsyncs, took, err := writes(ctx, folder, plan, fsyncBlock, true)
	if err != nil {
		return Disk{}, err
	}
	d.FsyncBytesPerS, d.FsyncsPerS = float64(written)/took.Seconds(), float64(fsyncs)/took.Seconds()
	return d, nil
}

func writes(ctx context.Context, folder string, plan DiskPlan, block int, each bool) (written int64, fsyncs int,
	took time.Duration, err error) {
	file, err := os.CreateTemp(folder, "kafka-bench-calibrate-")
	if err != nil {
		return 0, 0, 0, fmt.Errorf("measure a disk: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close(), os.Remove(file.Name())) }()
	bytes, source := make([]byte, block), rand.NewPCG(1, 2)
	for i := 0; i+8 <= block; i += 8 { // a disk may compress repetitions within a block
		binary.LittleEndian.PutUint64(bytes[i:], source.Uint64())
	}
	sync := func() error {
		fsyncs++
		return file.Sync()
	}
	began := time.Now()
	for written == 0 || written+int64(block) <= plan.Bytes && time.Since(began) < plan.Length {
		if err := ctx.Err(); err != nil {
			return 0, 0, 0, err
		}
		for i := 0; i+8 <= block; i += 4096 { // a disk may store equal blocks once
			binary.LittleEndian.PutUint64(bytes[i:], source.Uint64())
		}
		if _, err := file.Write(bytes); err != nil {
			return 0, 0, 0, fmt.Errorf("measure a disk: %w", err)
		}
		written += int64(block)
		if each {
			err = sync()
		}
		if err != nil {
			return 0, 0, 0, fmt.Errorf("measure a disk: %w", err)
		}
	}
	if !each {
		if err := sync(); err != nil {
			return 0, 0, 0, fmt.Errorf("measure a disk: %w", err)
		}
	}
	return written, fsyncs, time.Since(began), nil
}

// SetDisk adds a disk, or replaces its earlier measurement.
func (c *Calibration) SetDisk(d Disk) {
	same := func(was Disk) bool { return was.Name == d.Name && (d.Name != "" || was.Folder == d.Folder) }
	c.Disks = append(slices.DeleteFunc(c.Disks, same), d)
}

// DiskYardsticks returns the write rate of each named disk in bytes/s. On a nil Calibration it
// returns nil.
func (c *Calibration) DiskYardsticks() map[string]float64 {
	if c == nil {
		return nil
	}
	yardsticks := make(map[string]float64)
	for _, d := range c.Disks {
		if d.Name != "" {
			yardsticks[d.Name] = d.WriteBytesPerS
		}
	}
	return yardsticks
}

// NewDisks returns a calibration of this machine that has only disks.
func NewDisks() *Calibration {
	return &Calibration{SchemaVersion: SchemaVersion, MadeAt: time.Now().UTC(), HostName: hostName()}
}
