package payload

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"strconv"
	"time"
)

// appendJSON appends an order event, with a note that fills it to the exact size. From two bytes
// on, the event is valid JSON.
func appendJSON(dst []byte, end int, random *rand.Rand, number int) []byte {
	if end-len(dst) < len("{}") {
		return appendZeros(dst, end, random, number)
	}
	d := document{bytes: append(dst, '{'), end: end - len("}"), random: random}
	d.addNumber(`"id":`, 100_000_000+random.IntN(900_000_000))
	d.addText(`"type":"order.`, pick(random, orderEvents))
	d.addNumber(`"customer":`, 10_000+random.IntN(900_000))
	d.addNumber(`"total_cents":`, 99+random.IntN(1<<(7+random.IntN(12))))
	d.addText(`"currency":"`, pick(random, currencies))
	created := timeOf(number, random)
	d.addField(func(b []byte) []byte {
		return append(created.AppendFormat(append(b, `"created_at":"`...), timestamp), '"')
	})
	d.addText(`"region":"`, pick(random, regions))
	high, low := random.Uint64(), random.Uint64()
	d.addField(func(b []byte) []byte { return append(appendHex(appendHex(append(b, `"trace":"`...), high), low), '"') })
	d.addLines()
	d.addNote()
	return append(d.bytes, '}')
}

type document struct {
	bytes  []byte
	end    int
	random *rand.Rand
}

// addField appends what add appends to its argument, unless that goes beyond the end.
func (d *document) addField(add func([]byte) []byte) bool {
	before := len(d.bytes)
	if d.bytes[before-1] != '{' && d.bytes[before-1] != '[' {
		d.bytes = append(d.bytes, ',')
	}
	d.bytes = add(d.bytes)
	if len(d.bytes) > d.end {
		d.bytes = d.bytes[:before]
		return false
	}
	return true
}

func (d *document) addNumber(name string, n int) bool {
	return d.addField(func(b []byte) []byte { return strconv.AppendInt(append(b, name...), int64(n), 10) })
}

func (d *document) addText(name, value string) bool {
	return d.addField(func(b []byte) []byte { return append(append(append(b, name...), value...), '"') })
}

func (d *document) addRaw(text string) bool {
	return d.addField(func(b []byte) []byte { return append(b, text...) })
}

func appendHex(b []byte, n uint64) []byte {
	return hex.AppendEncode(b, binary.BigEndian.AppendUint64(make([]byte, 0, 8), n))
}

func (d *document) addLines() {
	d.end -= len("]")
	if !d.addRaw(`"lines":[`) {
		d.end += len("]")
		return
	}
	for d.addLine() {
	}
	d.end += len("]")
	d.bytes = append(d.bytes, ']')
}

func (d *document) addLine() bool {
	product, number := pick(d.random, products), d.random.IntN(10_000)
	quantity, cents, gift := 1+d.random.IntN(5), 99+d.random.IntN(20_000), d.random.IntN(10) == 0
	return d.addField(func(b []byte) []byte {
		b = append(append(b, `{"sku":"`...), product...)
		b = append(b, '-', digit(number/1000), digit(number/100), digit(number/10), digit(number))
		b = strconv.AppendInt(append(b, `","quantity":`...), int64(quantity), 10)
		b = strconv.AppendInt(append(b, `,"unit_cents":`...), int64(cents), 10)
		return append(strconv.AppendBool(append(b, `,"gift":`...), gift), '}')
	})
}

// digit returns the last decimal digit of n.
func digit(n int) byte { return byte('0' + n%10) }

func (d *document) addNote() {
	if !d.addRaw(`"note":""`) {
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
