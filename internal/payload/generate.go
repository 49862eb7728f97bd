package payload

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Classes are the names of the payload classes.
var Classes = []string{"random", "zeros", "text", "json", "logline", "mixed"}

// generator fills a body from a source of chance that is its own; i is the
// body's place in the corpus.
type generator func(body []byte, r *rand.Rand, i int)

func generatorOf(class string) (generator, error) {
	switch class {
	case "random":
		return fillRandom, nil
	case "zeros":
		return func(body []byte, _ *rand.Rand, _ int) { clear(body) }, nil
	case "text":
		return fillWith(text), nil
	case "json":
		return fillJSON, nil
	case "logline":
		return fillWith(logline), nil
	case "mixed":
		return fillMixed, nil
	default:
		return nil, fmt.Errorf("there is no payload class %q; there is %s", class, strings.Join(Classes, ", "))
	}
}

func fillRandom(body []byte, r *rand.Rand, _ int) {
	for i := range body {
		body[i] = byte(r.Uint32())
	}
}

// fillWith fills a body with pieces until it is full, the last one cut.
func fillWith(piece func(dst []byte, r *rand.Rand) []byte) generator {
	return func(body []byte, r *rand.Rand, _ int) {
		var b []byte
		for len(b) < len(body) {
			b = piece(b, r)
		}
		copy(body, b)
	}
}

// fillMixed is what a topic shared by several teams holds: mostly JSON, many log
// lines, some text, some that is compressed or encrypted already.
func fillMixed(body []byte, r *rand.Rand, i int) {
	switch draw := r.IntN(100); {
	case draw < 50:
		fillJSON(body, r, i)
	case draw < 80:
		fillWith(logline)(body, r, i)
	case draw < 95:
		fillWith(text)(body, r, i)
	default:
		fillRandom(body, r, i)
	}
}

// text appends a sentence. Words come by Zipf's law, as in any language.
func text(dst []byte, r *rand.Rand) []byte {
	zipf := rand.NewZipf(r, 1.1, 2, uint64(len(vocabulary)-1))
	n := 6 + r.IntN(14)
	for i := range n {
		word := vocabulary[zipf.Uint64()]
		if i == 0 {
			dst = append(dst, word[0]-'a'+'A')
			dst = append(dst, word[1:]...)
			continue
		}
		if i%7 == 6 && i < n-1 {
			dst = append(dst, ',')
		}
		dst = append(dst, ' ')
		dst = append(dst, word...)
	}
	return append(dst, ". "...)
}

// logline appends a line of a web server's access log.
func logline(dst []byte, r *rand.Rand) []byte {
	return fmt.Appendf(dst, "10.%d.%d.%d - %s [%02d/Mar/2026:%02d:%02d:%02d +0000] \"%s %s/%d HTTP/1.1\" %d %d %.3f \"%s\"\n",
		r.IntN(4), r.IntN(256), 1+r.IntN(254), pick(r, users), 1+r.IntN(28), r.IntN(24), r.IntN(60), r.IntN(60),
		pick(r, methods), pick(r, paths), r.IntN(100_000), pick(r, statuses), 120+r.IntN(48_000),
		r.ExpFloat64()*0.08, pick(r, agents))
}

// fillJSON fills a body with one JSON document: an order event with as many
// lines as have room, and a note of white space up to the exact size. A body that
// has no room for the smallest event holds the beginning of one.
func fillJSON(body []byte, r *rand.Rand, _ int) {
	doc := fmt.Appendf(nil, `{"event_id":"%08x-%04x-%04x","type":"order.%s","customer_id":%d,"region":"%s","currency":"%s","created_at":"2026-03-%02dT%02d:%02d:%02d.%03dZ","total_cents":%d,"lines":[`,
		r.Uint32(), r.Uint32N(1<<16), r.Uint32N(1<<16), pick(r, orderEvents), 10_000+r.IntN(900_000), pick(r, regions), pick(r, currencies),
		1+r.IntN(28), r.IntN(24), r.IntN(60), r.IntN(60), r.IntN(1000), 100+r.IntN(500_000))
	const tail = `],"note":"`
	const end = `"}`
	for first := true; ; first = false {
		line := orderLine(r, first)
		if len(doc)+len(line)+len(tail)+len(end) > len(body) {
			break
		}
		doc = append(doc, line...)
	}
	doc = append(doc, tail...)
	for len(doc) < len(body)-len(end) {
		doc = text(doc, r)
	}
	n := copy(body, doc)
	if room := len(body) - len(end); n > room && room > 0 {
		copy(body[room:], end)
	}
}

func orderLine(r *rand.Rand, first bool) []byte {
	comma := ","
	if first {
		comma = ""
	}
	return fmt.Appendf(nil, `%s{"sku":"%s-%04d","quantity":%d,"unit_cents":%d,"gift":%t}`,
		comma, pick(r, products), r.IntN(10_000), 1+r.IntN(5), 99+r.IntN(20_000), r.IntN(10) == 0)
}

func pick[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }

var (
	users       = []string{"-", "-", "-", "amara", "bjorn", "chen", "dipika", "elena", "farid"}
	methods     = []string{"GET", "GET", "GET", "GET", "POST", "PUT", "DELETE"}
	paths       = []string{"/api/v1/orders", "/api/v1/customers", "/api/v2/search", "/static/app", "/health", "/api/v1/carts"}
	statuses    = []int{200, 200, 200, 200, 200, 201, 204, 304, 400, 404, 500, 503}
	agents      = []string{"Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0", "curl/8.9.1", "okhttp/4.12.0", "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0) Safari/605.1"}
	orderEvents = []string{"created", "paid", "packed", "shipped", "delivered", "returned"}
	regions     = []string{"eu-north", "eu-west", "us-east", "us-west", "ap-south"}
	currencies  = []string{"EUR", "USD", "GBP", "SEK", "INR"}
	products    = []string{"kettle", "lamp", "chair", "notebook", "cable", "blanket", "mug"}
)

// vocabulary is ordered by how frequent a word is.
var vocabulary = strings.Fields(`
the of and to in a is that it for was on are as with his they at be this from have or by one had not but what all were
when we there can an your which their said if do will each about how up out them then she many some so these would other
into has more her two like him see time could no make than first been its who now people my made over did down only way
find use may water long little very after words called just where most know get through back much before go good new
write our used me man too any day same right look think also around another came come work three word must because does
part even place well such here take why things help put years different away again off went old number great tell men
say small every found still between name should home big give air line set own under read last never us left end along
while might next sound below saw something thought both few those always looked show large often together asked house
world going want school important until form food keep children feet land side without boy once animals life enough took
sometimes four head above kind began almost live page got earth need far hand high year mother light parts country father
let night following picture being study second eyes soon times story boys since white days ever paper hard near sentence
better best across during today others however sure means knew try told young miles sun ways thing whole hear example
heard several change answer room sea against top turned learn point city play toward five using himself usually money
seen car morning broker partition offset consumer producer record batch leader replica cluster segment latency schedule`)
