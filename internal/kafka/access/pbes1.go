package access

import (
	"bytes"
	"crypto/cipher"
	"crypto/des"  //nolint:gosec // the only form of an encrypted key that Kafka reads with Java 17
	"crypto/sha1" //nolint:gosec // as above
	"crypto/x509/pkix"
	"encoding/asn1"
	"errors"
	"math/big"
	"unicode/utf16"
)

// pbeSHA1TripleDES is pbeWithSHAAnd3-KeyTripleDES-CBC (RFC 7292, appendix C): openssl pkcs8 -topk8 -v1 PBE-SHA1-3DES.
var pbeSHA1TripleDES = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 12, 1, 3}

type encryptedKeyInfo struct {
	Algorithm pkix.AlgorithmIdentifier
	Data      []byte
}

// maxKeyIterations bounds the time that a hostile file can take.
const maxKeyIterations = 10_000_000

// tripleDESKey decrypts a private key. is reports whether the key is encrypted in this form.
func tripleDESKey(der []byte, password string) (key []byte, is bool, err error) {
	var info encryptedKeyInfo
	var parameters struct {
		Salt       []byte
		Iterations int
	}
	if _, err := asn1.Unmarshal(der, &info); err != nil || !info.Algorithm.Algorithm.Equal(pbeSHA1TripleDES) {
		return nil, false, nil
	}
	if _, err := asn1.Unmarshal(info.Algorithm.Parameters.FullBytes, &parameters); err != nil ||
		parameters.Iterations < 1 || parameters.Iterations > maxKeyIterations || len(parameters.Salt) == 0 {
		return nil, true, errors.New("the parameters of its encryption are not valid")
	}
	secret := utf16.Encode([]rune(password + "\x00"))
	text := make([]byte, 0, 2*len(secret))
	for _, unit := range secret {
		text = append(text, byte(unit>>8), byte(unit))
	}
	derive := func(purpose byte, size int) []byte {
		return pkcs12Key(text, parameters.Salt, parameters.Iterations, purpose, size)
	}
	block, err := des.NewTripleDESCipher(derive(1, 24)) //nolint:gosec // as above
	if err != nil {
		return nil, true, err
	}
	if len(info.Data) == 0 || len(info.Data)%block.BlockSize() != 0 {
		return nil, true, errKeyPassword
	}
	plain := make([]byte, len(info.Data))
	cipher.NewCBCDecrypter(block, derive(2, block.BlockSize())).CryptBlocks(plain, info.Data)
	padding := int(plain[len(plain)-1])
	if padding < 1 || padding > block.BlockSize() {
		return nil, true, errKeyPassword
	}
	return plain[:len(plain)-padding], true, nil
}

// pkcs12Key derives size bytes for a purpose: 1 a key, 2 an initialization vector (RFC 7292, appendix B.2).
func pkcs12Key(password, salt []byte, iterations int, purpose byte, size int) (key []byte) {
	const blockBytes = 64 // of SHA-1
	filled := func(b []byte) []byte {
		length := (len(b) + blockBytes - 1) / blockBytes * blockBytes
		return bytes.Repeat(b, length/len(b)+1)[:length]
	}
	diversifier := bytes.Repeat([]byte{purpose}, blockBytes)
	input := append(filled(salt), filled(password)...)
	modulus := new(big.Int).Lsh(big.NewInt(1), 8*blockBytes)
	for len(key) < size {
		digest := sha1.Sum(append(diversifier[:blockBytes:blockBytes], input...)) //nolint:gosec // as above
		for range iterations - 1 {
			digest = sha1.Sum(digest[:]) //nolint:gosec // as above
		}
		key = append(key, digest[:]...)
		step := new(big.Int).SetBytes(filled(digest[:]))
		step.Add(step, big.NewInt(1))
		for at := 0; at < len(input); at += blockBytes {
			next := new(big.Int).SetBytes(input[at : at+blockBytes])
			next.Mod(next.Add(next, step), modulus).FillBytes(input[at : at+blockBytes])
		}
	}
	return key[:size]
}
