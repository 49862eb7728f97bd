package cluster

import (
	"fmt"
	"os"
	"path/filepath"
)

// Home is the place of local clusters on disk.
type Home struct {
	// Dist is the folder with Kafka's jars, for each version.
	Dist string
	// Clusters has one folder for each running cluster: its data, logs and record.
	Clusters string
}

// UserHome returns the home below the user's cache folder, which all commands of one user share.
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

func makeDir(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return &Error{
			Kind: ErrUnavailable, What: "the folder " + dir + " can't be made", Cause: err,
			Remedy: "set XDG_CACHE_HOME to a folder that you may write to",
		}
	}
	return nil
}

func tell(progress func(string), format string, args ...any) {
	if progress != nil {
		progress(fmt.Sprintf(format, args...))
	}
}
