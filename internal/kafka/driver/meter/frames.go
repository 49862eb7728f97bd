package meter

import "encoding/binary"

// body reads what follows the head of a frame, in pieces as they come; nil is one
// that nobody wants to read.
type body func(piece []byte)

// lengthBytes come before everything else in a frame.
const lengthBytes = 4

// frames cuts a stream into Kafka's requests or responses: four bytes of length,
// then as many bytes, of which the first are the head. The stream comes in pieces
// of any size, and is never held: a piece is gone once it was read.
type frames struct {
	headBytes int                    // at most maxHead
	begin     func(head []byte) body // the head is there
	end       func(head []byte)      // all is there; may be nil

	head [lengthBytes + maxHead]byte
	have int // bytes of length and head that are there
	left int // bytes of the body that are still to come
	rest body
}

const maxHead = 8

// read takes the next piece of the stream.
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

// finish ends a frame.
func (f *frames) finish() {
	if f.end != nil {
		f.end(f.head[lengthBytes:f.have])
	}
	f.have, f.left, f.rest = 0, 0, nil
}
