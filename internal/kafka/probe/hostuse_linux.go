package probe

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/procfs"
	"github.com/prometheus/procfs/blockdevice"
	"golang.org/x/sys/unix"
)

// sectorBytes is the unit of /proc/diskstats, whatever the disk's own sector size.
const sectorBytes = 512

// ReadHost reads the counts of the machine's disks and networks from /proc.
func ReadHost() (HostCounts, error) {
	c := HostCounts{Disks: make(map[string]DiskCounts), Networks: make(map[string]NetCounts)}
	blocks, err := blockdevice.NewDefaultFS()
	if err != nil {
		return HostCounts{}, fmt.Errorf("reading the disks: %w", err)
	}
	disks, err := blocks.ProcDiskstats()
	if err != nil {
		return HostCounts{}, fmt.Errorf("reading /proc/diskstats: %w", err)
	}
	for _, d := range disks {
		if wholeDisk(d.DeviceName) {
			c.Disks[d.DeviceName] = DiskCounts{
				ReadBytes: int64(d.ReadSectors) * sectorBytes, WrittenBytes: int64(d.WriteSectors) * sectorBytes,
				BusyMs: int64(d.IOsTotalTicks), QueuedMs: int64(d.WeightedIOTicks),
				Requests: int64(d.ReadIOs + d.WriteIOs), RequestsMs: int64(d.ReadTicks + d.WriteTicks),
				Physical: underBlock(d.DeviceName, "device"),
			}
		}
	}
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return HostCounts{}, fmt.Errorf("reading /proc: %w", err)
	}
	networks, err := fs.NetDev()
	if err != nil {
		return HostCounts{}, fmt.Errorf("reading /proc/net/dev: %w", err)
	}
	for name, n := range networks {
		c.Networks[name] = NetCounts{ReceivedBytes: int64(n.RxBytes), SentBytes: int64(n.TxBytes)}
	}
	c.PageCacheBytes, c.DirtyBytes = pageCache(fs)
	if stalled, err := fs.PSIStatsForResource("io"); err == nil && stalled.Some != nil {
		some := time.Duration(stalled.Some.Total) * time.Microsecond
		c.IOStalled = &some
	}
	return c, nil
}

// DirtyBytes returns the bytes in the page cache that are not yet written to disk; nil if unknown.
func DirtyBytes() *int64 {
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return nil
	}
	_, dirty := pageCache(fs)
	return dirty
}

func pageCache(fs procfs.FS) (cached, dirty *int64) {
	memory, err := fs.Meminfo()
	if err != nil {
		return nil, nil
	}
	signed := func(bytes *uint64) *int64 {
		if bytes == nil {
			return nil
		}
		n := int64(*bytes)
		return &n
	}
	return signed(memory.CachedBytes), signed(memory.DirtyBytes)
}

// wholeDisk is false for a partition, whose counts are part of its disk's.
func wholeDisk(name string) bool { return underBlock(name, "") }

func underBlock(disk, below string) bool {
	_, err := os.Stat(filepath.Join("/sys/block", strings.ReplaceAll(disk, "/", "!"), below))
	return err == nil
}

// DiskOf returns the name of the disk that holds a folder, as HostCounts names it; "" if unknown, for example if a
// file system uses several disks.
func DiskOf(folder string) string {
	var stat unix.Stat_t
	if unix.Stat(folder, &stat) != nil {
		return ""
	}
	device := fmt.Sprintf("/sys/dev/block/%d:%d", unix.Major(stat.Dev), unix.Minor(stat.Dev))
	path, err := filepath.EvalSymlinks(device)
	if err != nil {
		return ""
	}
	// A partition is a folder in its disk's folder.
	for _, name := range []string{filepath.Base(path), filepath.Base(filepath.Dir(path))} {
		if wholeDisk(name) {
			return name
		}
	}
	return ""
}

// NetworkCapacity returns an interface's speed in one direction, in bytes a second; nil if unknown, as for
// loopback.
func NetworkCapacity(name string) *float64 {
	text, err := os.ReadFile(filepath.Join("/sys/class/net", name, "speed"))
	if err != nil {
		return nil
	}
	megabits, err := strconv.ParseFloat(strings.TrimSpace(string(text)), 64)
	if err != nil || megabits <= 0 {
		return nil
	}
	bytesPerS := megabits * 1e6 / 8
	return &bytesPerS
}

// AllowedCores returns how many cores a process may use: its CPU affinity, reduced by the quotas of its control
// groups (cpu.max, cpu.cfs_quota_us); nil if unknown.
func AllowedCores(pid int) *float64 {
	var bound unix.CPUSet
	if unix.SchedGetaffinity(pid, &bound) != nil {
		return nil
	}
	cores := float64(bound.Count())
	p, err := procfs.NewProc(pid)
	if err != nil {
		return nil
	}
	groups, err := p.Cgroups()
	if err != nil {
		return &cores
	}
	for _, g := range groups {
		for path := g.Path; ; path = filepath.Dir(path) {
			cores = math.Min(cores, quota(g, path))
			if path == "/" || path == "." {
				break
			}
		}
	}
	return &cores
}

// quota returns infinity if the group has no quota. It expects the groups where all distributions
// mount them.
func quota(g procfs.Cgroup, path string) float64 {
	if g.HierarchyID == 0 {
		for _, root := range []string{"/sys/fs/cgroup", "/sys/fs/cgroup/unified"} {
			if text, err := os.ReadFile(filepath.Join(root, path, "cpu.max")); err == nil {
				limit, period, _ := strings.Cut(strings.TrimSpace(string(text)), " ")
				return share(limit, period)
			}
		}
		return math.Inf(1)
	}
	for _, controller := range g.Controllers {
		if controller != "cpu" {
			continue
		}
		for _, name := range []string{"cpu", "cpu,cpuacct"} {
			folder := filepath.Join("/sys/fs/cgroup", name, path)
			limit, err := os.ReadFile(filepath.Join(folder, "cpu.cfs_quota_us"))
			period, also := os.ReadFile(filepath.Join(folder, "cpu.cfs_period_us"))
			if err == nil && also == nil {
				return share(strings.TrimSpace(string(limit)), strings.TrimSpace(string(period)))
			}
		}
	}
	return math.Inf(1)
}

// share returns limit ÷ period; infinite if there is no limit ("max" or negative).
func share(limit, period string) float64 {
	l, err := strconv.ParseFloat(limit, 64)
	p, also := strconv.ParseFloat(period, 64)
	if err != nil || also != nil || l <= 0 || p <= 0 {
		return math.Inf(1)
	}
	return l / p
}
