package payload

import "encoding/binary"

// Partition returns which of n partitions Kafka's own clients choose for a key; 0 if n < 1.
func Partition(key []byte, n int32) int32 {
	return int32(murmur2(key)&0x7fffffff) % max(n, 1)
}

// MurmurHash2 with the seed of Kafka's clients (org.apache.kafka.common.utils.Utils.murmur2).
func murmur2(data []byte) uint32 {
	const (
		seed  uint32 = 0x9747b28c
		m     uint32 = 0x5bd1e995
		shift        = 24
	)
	h := seed ^ uint32(len(data))
	for ; len(data) >= 4; data = data[4:] {
		k := binary.LittleEndian.Uint32(data) * m
		k ^= k >> shift
		h = h*m ^ k*m
	}
	switch len(data) {
	case 3:
		h ^= uint32(data[2]) << 16
		fallthrough
	case 2:
		h ^= uint32(data[1]) << 8
		fallthrough
	case 1:
		h = (h ^ uint32(data[0])) * m
	}
	h = (h ^ h>>13) * m
	return h ^ h>>15
}
