package payload

import (
	"math"
	"strings"
	"testing"
)

func newKeys(t testing.TB, spec KeySpec) *Keys {
	t.Helper()
	k, err := NewKeys(spec)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestNoKeys(t *testing.T) {
	if newKeys(t, KeySpec{Distribution: "none"}).Key(1) != nil || (&Keys{}).Key(1) != nil {
		t.Error("there is a key")
	}
}

func TestSequentialKeys(t *testing.T) {
	k := newKeys(t, KeySpec{Distribution: "sequential", Count: 3})
	for sequence, want := range []string{"key-00000000", "key-00000001", "key-00000002", "key-00000000"} {
		if got := string(k.Key(uint64(sequence))); got != want {
			t.Errorf("record %d has key %s, want %s", sequence, got, want)
		}
	}
}

func TestKeysAreAFunctionOfSeedAndSequence(t *testing.T) {
	for _, distribution := range []string{"uniform", "zipf"} {
		a := newKeys(t, KeySpec{distribution, 1000, 1.1, 1})
		b := newKeys(t, KeySpec{distribution, 1000, 1.1, 1})
		other := newKeys(t, KeySpec{distribution, 1000, 1.1, 2})
		differ := 0
		for s := range uint64(1000) {
			if string(a.Key(s)) != string(b.Key(s)) {
				t.Fatalf("%s: the key of record %d is %s, and %s", distribution, s, a.Key(s), b.Key(s))
			}
			if string(a.Key(s)) != string(other.Key(s)) {
				differ++
			}
		}
		if differ < 500 {
			t.Errorf("%s: another seed changes only %d of 1000 keys", distribution, differ)
		}
	}
}

func TestKeyFrequencies(t *testing.T) {
	const count, draws = 100, 1_000_000
	for _, c := range []struct {
		spec   KeySpec
		weight func(k int) float64
	}{
		{KeySpec{"uniform", count, 0, 5}, func(int) float64 { return 1 }},
		{KeySpec{"zipf", count, 1.1, 5}, func(k int) float64 { return math.Pow(float64(k+1), -1.1) }},
		{KeySpec{"zipf", count, 0.5, 5}, func(k int) float64 { return math.Pow(float64(k+1), -0.5) }},
		{KeySpec{"zipf", count, 3, 5}, func(k int) float64 { return math.Pow(float64(k+1), -3) }},
	} {
		keys := newKeys(t, c.spec)
		var seen [count]float64
		for s := range uint64(draws) {
			seen[keys.number(s)]++
		}
		sum := 0.0
		for k := range count {
			sum += c.weight(k)
		}
		chi := 0.0
		for k := range count {
			want := draws * c.weight(k) / sum
			chi += (seen[k] - want) * (seen[k] - want) / want
		}
		if chi > 149 { // 99 degrees of freedom, level 0.1 %
			t.Errorf("%v: chi-squared is %.1f", c.spec, chi)
		}
	}
}

func TestKeyErrors(t *testing.T) {
	for want, spec := range map[string]KeySpec{
		`"hot" is not known; choose one of none`: {Distribution: "hot", Count: 1},
		"0 keys; give 1 to 10000000":             {Distribution: "uniform"},
		"10000001 keys":                          {Distribution: "sequential", Count: MaxKeys + 1},
		"zipf keys with skew 0":                  {Distribution: "zipf", Count: 10},
		"zipf keys with skew NaN":                {Distribution: "zipf", Count: 10, Skew: math.NaN()},
	} {
		if _, err := NewKeys(spec); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v does not say %q", err, want)
		}
	}
}

// The vectors are those of org.apache.kafka.common.utils.UtilsTest.
func TestMurmur2(t *testing.T) {
	for key, want := range map[string]int32{
		"21":                         -973932308,
		"foobar":                     -790332482,
		"a-little-bit-long-string":   -985981536,
		"a-little-bit-longer-string": -1486304829,
		"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8": -58897971,
		"abc": 479470107,
	} {
		if got := int32(murmur2([]byte(key))); got != want {
			t.Errorf("murmur2(%q) is %d, want %d", key, got, want)
		}
	}
}

func TestPartition(t *testing.T) {
	// Utils.toPositive(-790332482) is 1357151166.
	if got := Partition([]byte("foobar"), 12); got != 1357151166%12 {
		t.Errorf("foobar is in partition %d", got)
	}
	if Partition([]byte("foobar"), 1) != 0 || Partition(nil, 0) != 0 {
		t.Error("with one partition or none the partition is 0")
	}
}
