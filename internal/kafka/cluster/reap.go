package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Reap kills the brokers and removes the folders of clusters that dead processes left, unless the
// clusters were made to outlive their owner. It kills only a process that a pid file names and
// whose start time and command line match. It returns the removed folders.
func (h Home) Reap(ctx context.Context, progress func(string)) (removed []string, err error) {
	if _, err := os.Stat(h.Clusters); errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	lock, err := h.lockClusters(ctx)
	if err != nil {
		return nil, err
	}
	defer lock.unlock()
	folders, err := filepath.Glob(filepath.Join(h.Clusters, folderPrefix+"*"))
	if err != nil {
		return nil, fmt.Errorf("clusters in %s: %w", h.Clusters, err)
	}
	var failed error
	for _, dir := range folders {
		gone, err := reapFolder(dir)
		failed = errors.Join(failed, err)
		if gone {
			removed = append(removed, dir)
			tell(progress, "removed what was left of a cluster whose owner died: %s", filepath.Base(dir))
		}
	}
	return removed, failed
}

func reapFolder(dir string) (removed bool, err error) {
	r, err := readRecord(dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		// No record: the owner has not written it yet, or died before.
	case err != nil:
		return false, err
	case r.State != stateOwned:
		return false, nil
	}
	owner, err := tryLock(filepath.Join(dir, ownerName))
	if errors.Is(err, errLocked) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer owner.unlock()
	if err := killBrokers(dir); err != nil {
		return false, fmt.Errorf("%s is left in place: %w", dir, err)
	}
	if err := removeCluster(dir); err != nil {
		return false, fmt.Errorf("remove a dead cluster: %w", err)
	}
	return true, nil
}

func killBrokers(dir string) error {
	paths, err := filepath.Glob(filepath.Join(dir, "broker-*.pid"))
	if err != nil {
		return err
	}
	var failed error
	for _, path := range paths {
		id, err := readPID(path)
		if err != nil {
			// An incomplete pid file identifies no process.
			continue
		}
		if id.runsIn(dir) {
			failed = errors.Join(failed, id.end(0))
		}
	}
	return failed
}
