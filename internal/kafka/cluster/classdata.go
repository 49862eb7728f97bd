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

// Class data sharing: a JVM that finds its classes parsed, verified and linked
// in an archive starts a broker in half the CPU time (1.9 s instead of 3.8 s
// each, which three brokers on two cores feel most). The archive is made once,
// by a broker that starts, stops, and writes down what it had loaded. The JVM
// checks by itself whether an archive fits, and works without one that does not.

// archiveTimeout bounds the making of an archive; archiveGrace is how long the
// broker of it may take to stop, because it writes the archive then.
const (
	archiveTimeout = 3 * time.Minute
	archiveGrace   = time.Minute
)

// classArchive returns the class archive of dist for this Java and makes it
// where there is none yet. Without one, for whatever reason, a cluster starts as
// well, only slower: then the path is empty.
func (h Home) classArchive(ctx context.Context, java Java, dist Dist, progress func(string)) string {
	path := archivePath(java, dist)
	if usable, decided := archiveState(path); decided {
		return usable
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
			// An empty file says not to try at each start. Where even this
			// fails, the next start tries again.
			_ = os.WriteFile(path, nil, 0o644)
		}
		return ""
	}
	return path
}

// archivePath names the archive of one Java; another one can't read it.
func archivePath(java Java, dist Dist) string {
	sum := sha256.Sum256([]byte(java.Path + "\x00" + java.Version))
	return filepath.Join(dist.Dir, fmt.Sprintf("classes-%s.jsa", hex.EncodeToString(sum[:4])))
}

// archiveState tells an archive, an attempt that failed (decided, but nothing
// usable) and nothing at all apart.
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

// makeArchive lets a broker start and stop for its classes.
func (h Home) makeArchive(ctx context.Context, java Java, dist Dist, path string) error {
	ctx, cancel := context.WithTimeout(ctx, archiveTimeout)
	defer cancel()
	unfinished := path + ".new"
	defer os.Remove(unfinished)
	k := &Kafka{home: h, java: java, dist: dist, opts: KafkaOptions{
		NoMetrics: true, // a JVM that has loaded an agent writes no archive; it reads one
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
