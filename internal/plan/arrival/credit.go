package arrival

import (
	"fmt"
	"math"
	"math/bits"
	"time"

	"kafkabench.example/kafka-bench/internal/plan/unit"
)

// A profile counts in credits: every record costs the same whole number of credits, and each nanosecond earns a whole
// number of credits.
//
// The bounds keep a stream's arithmetic within 64 bits, and that of ramps within 128.
const (
	maxRecordCost = 1 << 45
	horizonNs     = 1 << 61
)

type credits struct{ hi, lo uint64 }

var endless = credits{math.MaxUint64, math.MaxUint64}

func mul(a, b uint64) credits {
	hi, lo := bits.Mul64(a, b)
	return credits{hi, lo}
}

func (c credits) add(o credits) credits {
	lo, carry := bits.Add64(c.lo, o.lo, 0)
	return credits{c.hi + o.hi + carry, lo}
}

func (c credits) sub(o credits) credits {
	lo, borrow := bits.Sub64(c.lo, o.lo, 0)
	return credits{c.hi - o.hi - borrow, lo}
}

// The product must fit.
func (c credits) times(f uint64) credits {
	product := mul(c.lo, f)
	product.hi += c.hi * f
	return product
}

// The quotient must fit in 64 bits.
func (c credits) divide(d uint64) (quotient, rest uint64) {
	return bits.Div64(c.hi, c.lo, d)
}

func (c credits) half() credits { return credits{c.hi >> 1, c.hi<<63 | c.lo>>1} }

func (c credits) less(o credits) bool {
	return c.hi < o.hi || c.hi == o.hi && c.lo < o.lo
}

func (c credits) float() float64 { return float64(c.hi)*(1<<64) + float64(c.lo) }

// scale returns a record cost with which each rate earns a whole, even number of credits per nanosecond, so that
// the mean of two is whole.
func scale(rates ...unit.Rate) (recordCost uint64, perNs []uint64, err error) {
	recordCost = 1
	for _, r := range rates {
		if err := checkRate(r); err != nil {
			return 0, nil, err
		}
		per := uint64(r.Per) / gcd(uint64(r.Records), uint64(r.Per))
		cost := mul(recordCost/gcd(recordCost, per), per)
		if cost.hi > 0 || cost.lo > maxRecordCost {
			return 0, nil, fmt.Errorf("rate %s: too precise to schedule exactly with the other rates; round it", r)
		}
		recordCost = cost.lo
	}
	recordCost *= 2
	for _, r := range rates {
		common := gcd(uint64(r.Records), uint64(r.Per))
		perNs = append(perNs, uint64(r.Records)/common*(recordCost/(uint64(r.Per)/common)))
	}
	return recordCost, perNs, nil
}

func checkRate(r unit.Rate) error {
	switch {
	case r.IsMax():
		return fmt.Errorf("rate max: a closed loop has no schedule; write a rate such as 10k/s")
	case r.Per <= 0:
		return fmt.Errorf("rate is not set; write a rate such as 10k/s")
	case r.Records < 0:
		return fmt.Errorf("rate %d per %s: a rate cannot be negative", r.Records, r.Per)
	case r.Records > int64(r.Per):
		return fmt.Errorf("rate %s: above the highest rate that can be scheduled, 1000M/s", r)
	}
	return nil
}

func checkTime(name string, d time.Duration) error {
	switch {
	case d < 0:
		return fmt.Errorf("%s %s: cannot be negative", name, d)
	case d > horizonNs/2:
		return fmt.Errorf("%s %s: longer than a schedule can be (36 years)", name, d)
	}
	return nil
}

func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
