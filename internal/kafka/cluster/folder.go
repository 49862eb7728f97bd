package cluster

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// The folder of a cluster:
//
//	cluster.json        description of the cluster (record)
//	owner.lock          locked while the owner lives
//	broker-1.pid        the identity of the broker's process
//	broker-1.properties
//	data-1/             log.dirs, unless the cluster has disks
//	logs/broker-1.log   the broker's log
//	logs/broker-1.out   the broker's standard output and standard error
const (
	folderPrefix = "cluster-"
	recordName   = "cluster.json"
	ownerName    = "owner.lock"
	logConfig    = "log4j2.properties"
)

func (l layout) recordPath() string      { return filepath.Join(l.dir, recordName) }
func (l layout) pidPath(id int32) string { return pidPath(l.dir, id) }
func (l layout) logConfigPath() string   { return filepath.Join(l.dir, logConfig) }

func (l layout) dataDirs(id int32) []string {
	var dirs []string
	for _, dir := range l.disks {
		dirs = append(dirs, filepath.Join(dir, fmt.Sprintf("data-%d", id)))
	}
	if dirs == nil {
		dirs = []string{filepath.Join(l.dir, fmt.Sprintf("data-%d", id))}
	}
	return dirs
}

func (l layout) configPath(id int32) string {
	return filepath.Join(l.dir, fmt.Sprintf("broker-%d.properties", id))
}
func (l layout) logPath(id int32) string {
	return filepath.Join(l.dir, "logs", fmt.Sprintf("broker-%d.log", id))
}
func (l layout) outPath(id int32) string {
	return filepath.Join(l.dir, "logs", fmt.Sprintf("broker-%d.out", id))
}
func (l layout) formatOutPath(id int32) string {
	return filepath.Join(l.dir, "logs", fmt.Sprintf("format-%d.out", id))
}

func pidPath(dir string, id int32) string {
	return filepath.Join(dir, fmt.Sprintf("broker-%d.pid", id))
}

// record is cluster.json: what other processes need to know about a cluster.
type record struct {
	Version   int               `json:"version"`
	Name      string            `json:"name,omitempty"` // of a cluster made by Up
	State     string            `json:"state"`
	Owner     int               `json:"owner_pid"` // for people; only owner.lock counts
	StartedAt time.Time         `json:"started_at"`
	Kafka     string            `json:"kafka"`
	Java      string            `json:"java"`
	ClusterID string            `json:"cluster_id"`
	Brokers   []brokerRecord    `json:"brokers"`
	HeapBytes int64             `json:"heap_bytes"`
	Settings  map[string]string `json:"settings"`
	// Disks are the cluster's own folders on other disks; may be absent.
	Disks []string `json:"disks,omitempty"`
	// Options are absent in records of older versions.
	Options *recordOptions `json:"options,omitempty"`
}

type recordOptions struct {
	Version   string            `json:"version"`
	Brokers   int               `json:"brokers"`
	HeapBytes int64             `json:"heap_bytes"`
	JVM       []string          `json:"jvm,omitempty"`
	Config    map[string]string `json:"config,omitempty"`
	NoMetrics bool              `json:"no_metrics,omitempty"`
	Disks     []string          `json:"disks,omitempty"`
}

type brokerRecord struct {
	ID   int32 `json:"id"`
	Port int   `json:"port"`
	// MetricsPort is the agent's port; absent without an agent.
	MetricsPort int `json:"metrics_port,omitempty"`
}

const recordVersion = 1

const (
	stateOwned = "owned" // ends with its owner
	stateUp    = "up"    // outlives its owner, until Down
	// A cluster in stateKept is stopped, and its folder stays. Up starts it again if it has a name.
	stateKept = "kept"
)

// claimFolder makes and locks a folder for a new cluster; Reap can't see the folder before it is
// locked. If kept, the folder already exists, and stays after an error.
func (h Home) claimFolder(ctx context.Context, folder string, kept bool) (dir string, owner *fileLock, err error) {
	if err := makeDir(h.Clusters); err != nil {
		return "", nil, err
	}
	lock, err := h.lockClusters(ctx)
	if err != nil {
		return "", nil, err
	}
	defer lock.unlock()
	if err := needDisk(h.Clusters, clusterBytes); err != nil {
		return "", nil, err
	}
	dir = filepath.Join(h.Clusters, folder)
	if err := os.Mkdir(dir, 0o755); err != nil && !(kept && errors.Is(err, os.ErrExist)) {
		return "", nil, unwritable(dir, err)
	}
	owner, err = tryLock(filepath.Join(dir, ownerName))
	if err == nil {
		err = os.MkdirAll(filepath.Join(dir, "logs"), 0o755)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, logConfig), log4jProperties, 0o644)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, agentConfig), agentYAML(), 0o644)
	}
	if err != nil {
		if !kept {
			os.RemoveAll(dir)
		}
		return "", nil, unwritable(dir, err)
	}
	return dir, owner, nil
}

const clusterBytes = 1 << 30

func unwritable(dir string, cause error) error {
	return &Error{
		Kind: ErrUnavailable, What: "the cluster's folder " + dir + " can't be made", Cause: cause,
		Remedy: "set XDG_CACHE_HOME to a folder that you may write to",
	}
}

func (h Home) lockClusters(ctx context.Context) (*fileLock, error) {
	return lockFile(ctx, filepath.Join(h.Clusters, ".lock"), nil)
}

const removeTimeout = time.Minute

// removeFolder locks out Reap, which would treat a partly removed folder as abandoned.
func (h Home) removeFolder(dir string) error {
	ctx, cancel := context.WithTimeout(context.Background(), removeTimeout)
	defer cancel()
	lock, err := h.lockClusters(ctx)
	if err != nil {
		return err
	}
	defer lock.unlock()
	return removeCluster(dir)
}

func randomFolder() string {
	var id [6]byte
	rand.Read(id[:])
	return folderPrefix + "run-" + hex.EncodeToString(id[:])
}

// A cluster ID is 16 bytes in URL-safe base64. Kafka's tools reject an ID that begins with a dash.
func newClusterID() string {
	for {
		var id [16]byte
		rand.Read(id[:])
		text := base64.RawURLEncoding.EncodeToString(id[:])
		if !strings.HasPrefix(text, "-") {
			return text
		}
	}
}

func readRecord(dir string) (record, error) {
	var r record
	if err := readJSON(filepath.Join(dir, recordName), &r); err != nil {
		return record{}, err
	}
	if r.Version != recordVersion {
		return record{}, fmt.Errorf("%s has version %d, and this kafka-bench knows version %d",
			filepath.Join(dir, recordName), r.Version, recordVersion)
	}
	return r, nil
}

// readPID returns errNoProcess if the file is missing.
func readPID(path string) (identity, error) {
	var id identity
	err := readJSON(path, &id)
	if errors.Is(err, os.ErrNotExist) {
		return identity{}, errNoProcess
	}
	return id, err
}

func (r record) info() Info {
	i := Info{Kind: KindKafka, ID: r.ClusterID, Version: r.Kafka, Brokers: len(r.Brokers), Settings: r.Settings}
	for _, own := range r.Disks {
		i.Disks = append(i.Disks, filepath.Dir(own))
	}
	return i
}
