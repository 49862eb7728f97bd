package guard

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Dir is a folder of a broker's log.dirs, as the broker reports it (KIP-827).
type Dir struct {
	Broker                  int32
	Host                    string
	TotalBytes, UsableBytes int64 // of the file system; below 0 if unknown
}

// Disk is a file system with logs of brokers.
type Disk struct {
	Name                    string  // with the brokers, for people
	Brokers                 []int32 // in order
	TotalBytes, UsableBytes int64
}

// sameDisk is the part of a disk by which two readings of it, a moment apart, may differ.
const sameDisk = 0.01

// Disks returns the fullest disk of each broker. Brokers of one host that report the same disk have
// one. known is false if a broker does not report its disks.
func Disks(dirs []Dir, brokers int) (disks []Disk, known bool) {
	fullest := make(map[int32]Dir)
	for _, d := range dirs {
		if d.TotalBytes <= 0 || d.UsableBytes < 0 {
			return nil, false
		}
		if f, seen := fullest[d.Broker]; !seen || d.UsableBytes < f.UsableBytes {
			fullest[d.Broker] = d
		}
	}
	if len(fullest) < max(1, brokers) {
		return nil, false
	}
	var firsts []Dir
	for _, id := range sorted(fullest) {
		d := fullest[id]
		shared := slices.IndexFunc(firsts, func(f Dir) bool {
			return f.Host == d.Host && f.TotalBytes == d.TotalBytes &&
				math.Abs(float64(f.UsableBytes-d.UsableBytes)) <= sameDisk*float64(d.TotalBytes)
		})
		if shared < 0 {
			firsts = append(firsts, d)
			disks = append(disks, Disk{Brokers: []int32{id}, TotalBytes: d.TotalBytes, UsableBytes: d.UsableBytes})
			continue
		}
		disk := &disks[shared]
		disk.Brokers, disk.UsableBytes = append(disk.Brokers, id), min(disk.UsableBytes, d.UsableBytes)
	}
	for i := range disks {
		disks[i].Name = diskName(disks[i].Brokers)
	}
	return disks, true
}

func sorted(of map[int32]Dir) (ids []int32) {
	for id := range of {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, cmp.Compare)
	return ids
}

func diskName(brokers []int32) string {
	if len(brokers) == 1 {
		return fmt.Sprintf("the disk of broker %d", brokers[0])
	}
	texts := make([]string, len(brokers))
	for i, id := range brokers {
		texts[i] = fmt.Sprint(id)
	}
	return "the disk of brokers " + strings.Join(texts, ", ")
}

// The bytes that a disk keeps free by default: the greater of floorBytes and floorPart of it.
const (
	floorBytes = 5_000_000_000
	floorPart  = 0.05
)

// Floor returns the bytes that a disk keeps free by default.
func Floor(d Disk) int64 { return max(floorBytes, int64(floorPart*float64(d.TotalBytes))) }

// FloorHere is Floor for a disk of this machine, which has so many bytes free now. It is at most half of
// them, so that a small run fits an almost full disk.
func FloorHere(usable int64) int64 { return min(floorBytes, usable/2) }

// Ample reports whether a disk of this machine with so many bytes free need not be watched during a run that
// stores so many bytes at most.
func Ample(usable int64, stored float64) bool { return float64(usable)-stored >= 2*floorBytes }

// FloorOf returns the bytes that a disk keeps free: the greatest of its brokers' floors. It is 0 if they have none.
// Which brokers share a disk may change between readings, so floors belong to brokers.
func FloorOf(d Disk, floors map[int32]int64) (floor int64) {
	for _, id := range d.Brokers {
		floor = max(floor, floors[id])
	}
	return floor
}

// Share returns the part of all bytes of a topic's replicas that a disk of so many brokers may get:
// each broker has at most its part of the replicas, rounded up to whole ones.
func Share(onDisk, brokers, partitions, replication int) float64 {
	replicas := partitions * replication
	if replicas <= 0 || brokers <= 0 {
		return 1
	}
	each := min(partitions, (replicas+brokers-1)/brokers)
	return min(1, float64(onDisk*each)/float64(replicas))
}

// ShareOf is Share for a topic whose number of replicas on each broker is known.
func ShareOf(onDisk []int32, replicas map[int32]int) float64 {
	here, all := 0, 0
	for id, n := range replicas {
		if all += n; slices.Contains(onDisk, id) {
			here += n
		}
	}
	if all == 0 {
		return 1
	}
	return float64(here) / float64(all)
}
