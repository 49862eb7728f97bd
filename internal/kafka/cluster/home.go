package cluster

import (
	"fmt"
	"os"
	"path/filepath"
)

// Home is where local clusters live on disk.
type Home struct {
	// Dist is the folder that Kafka's jars are resolved into, once for each
	// version.
	Dist string
	// Clusters is the folder with one folder for each running cluster: its
	// data, its logs, and the records that Reap, Find and Down read. Point it
	// at another disk to measure that disk.
	Clusters string
}

// UserHome returns the home below the user's cache folder, which all commands
// of one user share.
func UserHome() (Home, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return Home{}, &Error{
			Kind: ErrUnavailable, What: "there is no cache folder to keep Kafka in", Cause: err,
			Remedy: "set HOME, or XDG_CACHE_HOME to a folder with 2 GiB of free space",
		}
	}
	dir := filepath.Join(cache, "kafka-bench")
	return Home{Dist: dir, Clusters: filepath.Join(dir, "clusters")}, nil
}

// makeDir creates dir with its parents; a failure says what to do about it.
func makeDir(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return &Error{
			Kind: ErrUnavailable, What: "the folder " + dir + " can't be made", Cause: err,
			Remedy: "set XDG_CACHE_HOME to a folder that you may write to",
		}
	}
	return nil
}

// tell reports progress, if somebody listens.
func tell(progress func(string), format string, args ...any) {
	if progress != nil {
		progress(fmt.Sprintf(format, args...))
	}
}
