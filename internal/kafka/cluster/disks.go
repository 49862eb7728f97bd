package cluster

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// DiskFault returns why brokers can't keep their logs in the folder dir, and a remedy; both are empty if they can.
// The folder must exist, be writable, and have 1 GiB free.
func DiskFault(dir string) (problem, remedy string) {
	const another = "or name another folder"
	info, err := os.Stat(dir)
	switch {
	case strings.Contains(dir, ","):
		return fmt.Sprintf("%q has a comma, which Kafka uses to separate folders", dir), "name a folder without one"
	case errors.Is(err, os.ErrNotExist):
		return fmt.Sprintf("the folder %q does not exist", dir), "make it, " + another
	case err != nil:
		return fmt.Sprintf("the folder %q can't be read: %v", dir, err), "make it readable, " + another
	case !info.IsDir():
		return fmt.Sprintf("%q is not a folder", dir), "name a folder"
	}
	probe, err := os.MkdirTemp(dir, diskFolderPrefix)
	if err != nil {
		return fmt.Sprintf("the folder %q can't be written to: %v", dir, err), "make it writable, " + another
	}
	if err := os.Remove(probe); err != nil {
		return fmt.Sprintf("files in the folder %q can't be removed: %v", dir, err), "make it writable, " + another
	}
	free, err := FreeDisk(dir)
	if err != nil {
		return err.Error(), "name another folder"
	}
	return fullDisk(dir, free)
}

func fullDisk(dir string, free int64) (problem, remedy string) {
	if free < clusterBytes {
		return fmt.Sprintf("the disk of %q has %d MiB free, and %d MiB are needed", dir, free>>20, clusterBytes>>20),
			fmt.Sprintf("free %d MiB there, or name another folder", (clusterBytes-free+(1<<20)-1)>>20)
	}
	return "", ""
}

const diskFolderPrefix = "kafka-bench-"

// The folder on each disk has the cluster's random ID in its name. removeCluster removes nothing
// else from a disk.
func diskFolders(disks []string, clusterID string) (own []string, err error) {
	all, err := absolute(disks)
	for _, disk := range all {
		own = append(own, filepath.Join(disk, diskFolderPrefix+clusterID))
	}
	return own, err
}

// The record must name the folders before makeDisks makes them, so that Reap finds them.
func (l layout) makeDisks() error {
	for _, own := range l.disks {
		if err := os.Mkdir(own, 0o755); err != nil {
			return &Error{Kind: ErrUnavailable, What: "the cluster's folder " + own + " can't be made", Cause: err,
				Remedy: "make the folder above it writable, or name another"}
		}
	}
	return nil
}

func (l layout) removeData() error {
	paths := l.disks
	for _, b := range l.brokers {
		paths = append(paths[:len(paths):len(paths)], l.dataDirs(b.id)...)
	}
	for _, path := range paths {
		if err := os.RemoveAll(path); err != nil {
			return fmt.Errorf("remove the cluster's data: %w", err)
		}
	}
	return nil
}

// removeCluster removes the cluster's own folder last: that folder holds the record that names
// the others.
func removeCluster(dir string) error {
	if r, err := readRecord(dir); err == nil {
		own := slices.DeleteFunc(r.Disks, func(disk string) bool {
			return filepath.Base(disk) != diskFolderPrefix+r.ClusterID // not a folder that a cluster makes
		})
		if err := (layout{disks: own}).removeData(); err != nil {
			return err
		}
	}
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("remove the cluster's folder: %w", err)
	}
	return nil
}
