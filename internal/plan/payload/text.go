package payload

import (
	"math/rand/v2"
	"strconv"
	"strings"
)

func appendText(dst []byte, end int, random *rand.Rand, _ int) []byte {
	for len(dst) < end {
		dst = appendSentence(dst, random)
	}
	return dst
}

func appendSentence(dst []byte, random *rand.Rand) []byte {
	words := 5 + random.IntN(16)
	for i := range words {
		start := len(dst)
		dst = appendWord(dst, random)
		if i == 0 && 'a' <= dst[start] && dst[start] <= 'z' {
			dst[start] -= 'a' - 'A'
		}
		if i > 1 && i < words-2 && random.IntN(10) == 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, ' ')
	}
	dst[len(dst)-1] = '.'
	return append(dst, ' ')
}

// One word in eight is not in the vocabulary.
func appendWord(dst []byte, random *rand.Rand) []byte {
	switch draw := random.IntN(40); {
	case draw == 0:
		return strconv.AppendInt(dst, int64(random.IntN(1<<random.IntN(16))), 10)
	case draw < 5:
		start := len(dst)
		for range 2 + random.IntN(3) {
			dst = append(dst, pick(random, syllables)...)
		}
		if draw == 1 {
			dst[start] -= 'a' - 'A'
		}
		return dst
	}
	return append(dst, vocabulary[pick(random, byFrequency)]...)
}

// byFrequency repeats each rank in proportion to 1/(rank + 2). Integers give the same words on every machine.
var byFrequency = func() (ranks []uint16) {
	for rank := range vocabulary {
		for range 4000 / (rank + 2) {
			ranks = append(ranks, uint16(rank))
		}
	}
	return ranks
}()

var syllables = strings.Fields(`
ba be bri ca che con da den der do el en fal fe gar ge gra hal hen in ka ker la len lo ma mer mi mon na ne nor o pal per
pi pre qui ra ren ri ro sal se sha si sol sta ta ten ter ti to tra tri tu u va ven ver vi vol wa wen wil xi ya zan zo`)

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
seen car morning broker partition offset consumer producer record batch leader replica cluster segment latency schedule
company market report percent million government president national general public policy service market budget interest
industry business management customer contract payment shipment delivery warehouse inventory supplier invoice account
balance transfer currency security insurance employee department division agreement committee program project development
research technology system network computer software database process production quality standard analysis information
evidence experiment theory structure function pressure temperature energy material surface measure distance direction
movement position condition situation relation difference increase decrease average maximum minimum estimate forecast
season weather mountain river valley island village harbour bridge station railway airport engine vehicle passenger
journey traveller language history literature chapter newspaper magazine television audience music theatre museum
hospital medicine patient doctor treatment disease recovery exercise kitchen breakfast dinner garden window curtain
furniture building apartment neighbour conversation question argument decision opinion advice promise mistake accident
surprise pleasure courage patience memory imagination attention silence freedom justice election parliament minister
citizen population territory frontier expedition regiment general soldier victory treaty religion ceremony tradition`)
