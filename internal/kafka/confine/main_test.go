package confine

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

const (
	burnWord = "burn-a-core"
	eatWord  = "eat-memory"
	tellWord = "tell-its-limits"
)

func TestMain(m *testing.M) {
	if len(os.Args) != 2 {
		os.Exit(m.Run())
	}
	switch os.Args[1] {
	case burnWord:
		burn(burnFor)
	case eatWord:
		eat(4 * memoryLimit)
	case tellWord:
		fmt.Print(runtime.GOMAXPROCS(0), " ", debug.SetMemoryLimit(-1))
	default:
		os.Exit(m.Run())
	}
}

const burnFor = 2 * time.Second

func burn(length time.Duration) {
	for began := time.Now(); time.Since(began) < length; {
	}
}

const memoryLimit = 64 << 20

func eat(bytes int) {
	var eaten [][]byte
	for taken := 0; taken < bytes; taken += 1 << 20 {
		piece := make([]byte, 1<<20)
		for i := range piece {
			piece[i] = byte(i)
		}
		eaten = append(eaten, piece)
	}
	fmt.Println("ate", len(eaten))
}
