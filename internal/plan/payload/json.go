package payload

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"time"
)

// appendJSON appends an order event, with a note that fills it to the exact size. From two bytes
// on, the event is valid JSON.
func appendJSON(dst []byte, end int, random *rand.Rand, number int) []byte {
	if end-len(dst) < len("{}") {
		return appendZeros(dst, end, random, number)
	}
	d := document{bytes: append(dst, '{'), end: end - len("}"), random: random}
	d.field(`"id":%d`, 100_000_000+random.IntN(900_000_000))
	d.field(`"type":"order.%s"`, pick(random, orderEvents))
	d.field(`"customer":%d`, 10_000+random.IntN(900_000))
	d.field(`"total_cents":%d`, 99+random.IntN(1<<(7+random.IntN(12))))
	d.field(`"currency":"%s"`, pick(random, currencies))
	d.field(`"created_at":"%s"`, timeOf(number, random).Format(timestamp))
	d.field(`"region":"%s"`, pick(random, regions))
	d.field(`"trace":"%016x%016x"`, random.Uint64(), random.Uint64())
	d.lines()
	d.note()
	return append(d.bytes, '}')
}

type document struct {
	bytes  []byte
	end    int
	random *rand.Rand
}

func (d *document) field(format string, args ...any) bool {
	before := len(d.bytes)
	if d.bytes[before-1] != '{' && d.bytes[before-1] != '[' {
		d.bytes = append(d.bytes, ',')
	}
	d.bytes = fmt.Appendf(d.bytes, format, args...)
	if len(d.bytes) > d.end {
		d.bytes = d.bytes[:before]
		return false
	}
	return true
}

func (d *document) lines() {
	d.end -= len("]")
	if !d.field(`"lines":[`) {
		d.end += len("]")
		return
	}
	for d.field(`{"sku":"%s-%04d","quantity":%d,"unit_cents":%d,"gift":%t}`, pick(d.random, products),
		d.random.IntN(10_000),
		1+d.random.IntN(5), 99+d.random.IntN(20_000), d.random.IntN(10) == 0) {
	}
	d.end += len("]")
	d.bytes = append(d.bytes, ']')
}

func (d *document) note() {
	if !d.field(`"note":""`) {
		d.bytes = append(d.bytes, bytes.Repeat([]byte(" "), d.end-len(d.bytes))...)
		return
	}
	quote := d.end - 1
	d.bytes = appendText(d.bytes[:len(d.bytes)-1], quote, d.random, 0)[:quote]
	d.bytes = append(d.bytes, '"')
}

const timestamp = "2006-01-02T15:04:05.000Z07:00"

// timeOf uses no clock: consecutive bodies are milliseconds apart.
func timeOf(number int, random *rand.Rand) time.Time {
	const start = 1_772_960_400_000 // 2026-03-08, 09:00 UTC
	return time.UnixMilli(start + int64(number)*9 + int64(random.IntN(9))).UTC()
}

var (
	orderEvents = []string{"created", "paid", "packed", "shipped", "delivered", "returned"}
	regions     = []string{"eu-north", "eu-west", "us-east", "us-west", "ap-south"}
	currencies  = []string{"EUR", "EUR", "USD", "USD", "GBP", "SEK", "INR"}
	products    = []string{"kettle", "lamp", "chair", "notebook", "cable", "blanket", "mug", "shelf", "toaster",
		"scarf"}
)
