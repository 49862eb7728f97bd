package unit

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// Size is a number of bytes; ParseSize never returns a negative one.
type Size int64

// Units of sizes: powers of ten (SI) and of two (IEC 80000-13).
const (
	Byte Size = 1
	KB   Size = 1000
	KiB  Size = 1024
	MB   Size = 1000 * KB
	MiB  Size = 1024 * KiB
	GB   Size = 1000 * MB
	GiB  Size = 1024 * MiB
	TB   Size = 1000 * GB
	TiB  Size = 1024 * GiB
)

var sizeUnits = []struct {
	name  string
	bytes Size
}{
	{"TiB", TiB}, {"TB", TB}, {"GiB", GiB}, {"GB", GB}, {"MiB", MiB}, {"MB", MB}, {"KiB", KiB}, {"kB", KB}, {"B", Byte},
}

// ParseSize reads a size: 512B, 64kB (64,000 bytes), 64KiB (65,536 bytes), up to TB and TiB. Without a unit it is in
// bytes. The bytes must be whole: 0.3KiB is an error.
func ParseSize(s string) (Size, error) {
	number, rest, ok := splitNumber(s)
	switch {
	case strings.HasPrefix(s, "-"):
		return 0, fmt.Errorf("size %q: a size cannot be negative", s)
	case !ok:
		return 0, fmt.Errorf("size %q: not a size; write it as 512B, 64kB or 64KiB", s)
	}
	unit, ok := sizeUnit(rest)
	if !ok {
		return 0, fmt.Errorf("size %q: %s", s, sizeHint(numberOf(s, rest), rest))
	}
	number.Mul(number, new(big.Rat).SetInt64(int64(unit)))
	switch {
	case !number.IsInt():
		return 0, fmt.Errorf("size %q: %s bytes is not a whole number of bytes", s, number.FloatString(2))
	case !number.Num().IsInt64():
		return 0, fmt.Errorf("size %q: too large; the largest size is 8 EiB", s)
	}
	return Size(number.Num().Int64()), nil
}

// A unit with an i has one meaning in any case, and without its B.
func sizeUnit(name string) (Size, bool) {
	for _, u := range sizeUnits {
		binary := len(u.name) == 3 && (strings.EqualFold(name, u.name) || strings.EqualFold(name, u.name[:2]))
		if u.name == name || binary {
			return u.bytes, true
		}
	}
	return Byte, slices.Contains([]string{"", "byte", "bytes"}, name)
}

func sizeHint(digits, unit string) string {
	letter := strings.ToUpper(unit[:1])
	decimal := letter + "B"
	if letter == "K" {
		decimal = "kB"
	}
	switch strings.TrimSuffix(strings.ToLower(unit), "b") {
	case "":
		return fmt.Sprintf("write %sB", digits)
	case "k", "m", "g", "t":
		kilo, _ := sizeUnit(decimal)
		kibi, _ := sizeUnit(letter + "iB")
		return fmt.Sprintf("write %[1]s%[2]s (%[3]s bytes each) or %[1]s%[4]siB (%[5]s bytes each)", digits, decimal,
			Count(int64(kilo)), letter, Count(int64(kibi)))
	}
	return fmt.Sprintf("unknown unit %q; the units are B, kB, KiB, MB, MiB, GB, GiB, TB and TiB", unit)
}

// String prints s exactly, in the unit that needs the fewest digits: 64KiB, 64kB, 1500B.
func (s Size) String() string {
	shortest := ""
	for _, u := range sizeUnits {
		if s%u.bytes != 0 {
			continue
		}
		text := strconv.FormatInt(int64(s/u.bytes), 10) + u.name
		if shortest == "" || len(text) < len(shortest) || s == 0 {
			shortest = text
		}
	}
	return shortest
}

// MarshalText prints s like String.
func (s Size) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads text like ParseSize.
func (s *Size) UnmarshalText(text []byte) error {
	parsed, err := ParseSize(string(text))
	if err != nil {
		return err
	}
	*s = parsed
	return nil
}
