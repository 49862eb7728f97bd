package unit

import (
	"fmt"
	"math/big"
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

// ParseSize reads a size: 512B, 64kB (64,000 bytes), 64KiB (65,536 bytes), up to TB and TiB; 0 needs no unit. The
// bytes must be whole: 0.3KiB is an error.
func ParseSize(s string) (Size, error) {
	number, rest, ok := splitNumber(s)
	switch {
	case strings.HasPrefix(s, "-"):
		return 0, fmt.Errorf("size %q: a size cannot be negative", s)
	case !ok:
		return 0, fmt.Errorf("size %q: not a size; write it as 512B, 64kB or 64KiB", s)
	case rest == "" && number.Sign() == 0:
		return 0, nil
	}
	unit, ok := sizeUnit(rest)
	if !ok {
		return 0, fmt.Errorf("size %q: %s", s, sizeHint(strings.TrimSuffix(s, rest), rest))
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

func sizeUnit(name string) (Size, bool) {
	for _, u := range sizeUnits {
		if u.name == name {
			return u.bytes, true
		}
	}
	return 0, false
}

func sizeHint(digits, unit string) string {
	word := strings.ToLower(strings.TrimSpace(unit))
	switch word {
	case "":
		return fmt.Sprintf("it has no unit; write %sB", digits)
	case "b", "byte", "bytes":
		return fmt.Sprintf("write %sB", digits)
	case "k", "kb":
		return fmt.Sprintf("write %skB (1,000 bytes each) or %sKiB (1,024 bytes each)", digits, digits)
	case "m", "mb":
		return fmt.Sprintf("write %sMB (1,000,000 bytes each) or %sMiB (1,048,576 bytes each)", digits, digits)
	case "g", "gb":
		return fmt.Sprintf("write %sGB (1,000,000,000 bytes each) or %sGiB (1,073,741,824 bytes each)", digits, digits)
	case "t", "tb":
		return fmt.Sprintf("write %sTB (1,000,000,000,000 bytes each) or %sTiB (1,099,511,627,776 bytes each)",
			digits, digits)
	case "ki", "kib", "mi", "mib", "gi", "gib", "ti", "tib":
		return fmt.Sprintf("write %s%siB", digits, strings.ToUpper(word[:1]))
	}
	return fmt.Sprintf("unknown unit %q; the units are B, kB, KiB, MB, MiB, GB, GiB, TB and TiB", strings.TrimSpace(unit))
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
