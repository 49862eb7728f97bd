package cluster

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// With an archive of linked classes, a broker starts in half the CPU time (1.9 s instead of 3.8 s).
// A broker that starts and stops once writes the archive. The JVM ignores an archive that does not
// fit. It costs more than one start saves, so the first start of a version makes none.

const (
	archiveTimeout = 3 * time.Minute
	archiveGrace   = time.Minute
)

// classArchive returns "" if the archive can't be made: the cluster starts more slowly without it.
func (h Home) classArchive(ctx context.Context, java Java, dist Dist, progress func(string)) string {
	path := archivePath(java, dist)
	if usable, decided := archiveState(path); decided {
		return usable
	}
	if first, err := os.OpenFile(path+".wanted", os.O_CREATE|os.O_EXCL, 0o644); err == nil {
		_ = first.Close()
		return ""
	}
	lock, err := lockFile(ctx, dist.Dir+".lock", nil)
	if err != nil {
		return ""
	}
	defer lock.unlock()
	if usable, decided := archiveState(path); decided {
		return usable
	}
	tell(progress, "preparing Kafka %s for quick starts, once", dist.Version)
	if err := h.makeArchive(ctx, java, dist, path); err != nil {
		tell(progress, "Kafka starts without prepared classes: %v", err)
		if ctx.Err() == nil {
			// An empty file prevents another attempt at each start.
			_ = os.WriteFile(path, nil, 0o644)
		}
		return ""
	}
	return path
}

// Another Java can't read the archive.
func archivePath(java Java, dist Dist) string {
	sum := sha256.Sum256([]byte(java.Path + "\x00" + java.Version))
	return filepath.Join(dist.Dir, fmt.Sprintf("classes-%s.jsa", hex.EncodeToString(sum[:4])))
}

// decided is also true after an attempt that failed.
func archiveState(path string) (usable string, decided bool) {
	info, err := os.Stat(path)
	if err != nil {
		return "", false
	}
	if info.Size() == 0 {
		return "", true
	}
	return path, true
}

func (h Home) makeArchive(ctx context.Context, java Java, dist Dist, path string) error {
	ctx, cancel := context.WithTimeout(ctx, archiveTimeout)
	defer cancel()
	unfinished := path + ".new"
	defer os.Remove(unfinished)
	k := &Kafka{home: h, java: java, dist: dist, opts: KafkaOptions{
		NoMetrics: true, // a JVM with an agent writes no archive, but can read one
		JVM:       []string{"-XX:ArchiveClassesAtExit=" + unfinished},
	}.withDefaults()}
	if err := k.bringUp(ctx, randomFolder()); err != nil {
		return err
	}
	k.brokers[0].shutdown(ctx, archiveGrace)
	err := errors.Join(k.discard(), ctx.Err())
	if err != nil {
		return err
	}
	return os.Rename(unfinished, path)
}
