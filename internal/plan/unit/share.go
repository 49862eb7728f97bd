package unit

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Share is a part of a whole, from 0 to 1. YAML has it in percent.
type Share float64

// String prints s as in a scenario.
func (s Share) String() string {
	return strconv.FormatFloat(math.Round(float64(s)*1e14)/1e12, 'f', -1, 64) + "%"
}

// MarshalText prints s like String.
func (s Share) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads a percentage.
func (s *Share) UnmarshalText(text []byte) error {
	number, isPercent := strings.CutSuffix(string(text), "%")
	percent, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil || math.IsNaN(percent) || math.IsInf(percent, 0) || !isPercent && percent != 0 {
		return fmt.Errorf("%q is not a share; write it in per cent, as in 50%%", text)
	}
	*s = Share(percent / 100)
	return nil
}
