package meter

import "encoding/binary"

// body reads what follows the head of a frame, piece by piece; nil skips it.
type body func(piece []byte)

const lengthBytes = 4

// frames splits a stream, which comes in pieces of any size, into Kafka's requests or responses:
// four bytes of length, a head, and a body. It keeps only the head.
type frames struct {
	headBytes int                    // at most maxHead
	begin     func(head []byte) body // called with a complete head
	end       func(head []byte)      // called at the end of a frame; may be nil

	head [lengthBytes + maxHead]byte
	have int // bytes of length and head so far
	left int // remaining bytes of the body
	rest body
}

const maxHead = 8

func (f *frames) read(piece []byte) {
	for len(piece) > 0 {
		if f.have < lengthBytes+f.headBytes {
			n := copy(f.head[f.have:lengthBytes+f.headBytes], piece)
			f.have += n
			piece = piece[n:]
			if f.have < lengthBytes+f.headBytes {
				return
			}
			f.left = int(int32(binary.BigEndian.Uint32(f.head[:]))) - f.headBytes
			f.rest = f.begin(f.head[lengthBytes:f.have])
		}
		n := min(len(piece), max(f.left, 0))
		if f.rest != nil && n > 0 {
			f.rest(piece[:n])
		}
		piece = piece[n:]
		if f.left -= n; f.left <= 0 {
			f.finish()
		}
	}
}

func (f *frames) finish() {
	if f.end != nil {
		f.end(f.head[lengthBytes:f.have])
	}
	f.have, f.left, f.rest = 0, 0, nil
}
