package payload

import (
	"fmt"
	"math/rand/v2"
)

// The last line is cut.
func appendLogLines(dst []byte, end int, random *rand.Rand, number int) []byte {
	for len(dst) < end {
		if random.IntN(3) == 0 {
			dst = appendApplicationLine(dst, random, number)
		} else {
			dst = appendAccessLine(dst, random, number)
		}
	}
	return dst
}

func appendAccessLine(dst []byte, random *rand.Rand, number int) []byte {
	dst = fmt.Appendf(dst, "10.%d.%d.%d - %s [", random.IntN(4), random.IntN(256), 1+random.IntN(254),
		pick(random, users))
	dst = timeOf(number, random).AppendFormat(dst, "02/Jan/2006:15:04:05 -0700")
	return fmt.Appendf(dst, "] \"%s %s/%d HTTP/1.1\" %d %d \"%s\" \"%s\"\n",
		pick(random, methods), pick(random, paths), random.IntN(100_000), pick(random, statuses),
		120+random.IntN(1<<(5+random.IntN(12))), pick(random, referrers), pick(random, agents))
}

func appendApplicationLine(dst []byte, random *rand.Rand, number int) []byte {
	dst = timeOf(number, random).AppendFormat(dst, timestamp)
	return fmt.Appendf(dst, " %-5s [%s-%d] com.example.%s - %s id=%d trace=%016x took=%dms\n",
		pick(random, levels), pick(random, threads), random.IntN(16), pick(random, loggers), pick(random, events),
		random.IntN(1_000_000), random.Uint64(), random.IntN(1<<(1+random.IntN(11))))
}

var (
	users   = []string{"-", "-", "-", "amara", "bjorn", "chen", "dipika", "elena", "farid"}
	methods = []string{"GET", "GET", "GET", "GET", "POST", "PUT", "DELETE"}
	paths   = []string{"/api/v1/orders", "/api/v1/customers", "/api/v2/search", "/static/app", "/health",
		"/api/v1/carts"}
	statuses  = []int{200, 200, 200, 200, 200, 200, 201, 204, 304, 400, 404, 500, 503}
	referrers = []string{"-", "-", "-", "https://shop.example.com/", "https://shop.example.com/search",
		"https://www.example.org/"}
	agents = []string{
		"Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1.15",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/141.0.0.0",
		"okhttp/4.12.0", "curl/8.9.1",
	}
	levels  = []string{"INFO", "INFO", "INFO", "INFO", "INFO", "DEBUG", "DEBUG", "WARN", "ERROR"}
	threads = []string{"http-nio-8080-exec", "kafka-consumer", "scheduling", "ForkJoinPool-1-worker"}
	loggers = []string{
		"checkout.PaymentService", "checkout.CartController", "orders.OrderRepository", "orders.OrderListener",
		"stock.ReservationService", "mail.Notifier",
	}
	events = []string{
		"order accepted", "payment authorised", "payment declined by issuer", "reservation released",
		"cache miss, loading from database", "retrying after connection reset", "message committed", "mail queued",
	}
)
