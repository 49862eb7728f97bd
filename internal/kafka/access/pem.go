package access

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/youmark/pkcs8"
)

const maxFileBytes = 1 << 20

// readFile's error does not contain the path.
func readFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, withoutPath(err)
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is not a file")
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, withoutPath(err)
	}
	defer file.Close()
	content, err := io.ReadAll(io.LimitReader(file, maxFileBytes+1))
	if err != nil {
		return nil, withoutPath(err)
	}
	if len(content) > maxFileBytes {
		return nil, errors.New("it is larger than 1 MiB")
	}
	return content, nil
}

func withoutPath(err error) error {
	var failed *fs.PathError
	if errors.As(err, &failed) {
		return failed.Err
	}
	return err
}

// These errors quote nothing of the PEM text: it may be a key.
var (
	errNoCertificate = errors.New("there is no certificate in it")
	errNoKey         = errors.New("there is no private key in it")
	errTwoKeys       = errors.New("there is more than one private key in it")
	errEncryptedKey  = errors.New("the private key is encrypted, and " + keyPassword + " is not set")
	errOldEncryption = errors.New("the private key is encrypted in the old form of OpenSSL, which Kafka can't read")
	errBrokenPEM     = errors.New("it has a block that does not end, or is not base64")
	errCertificate   = errors.New("it has a certificate that can't be parsed")
)

// Like Kafka, and unlike encoding/pem, pemBlocks accepts any white space within a block.
func pemBlocks(text string) ([]pem.Block, error) {
	var blocks []pem.Block
	for {
		_, rest, found := strings.Cut(text, "-----BEGIN ")
		if !found {
			return blocks, nil
		}
		label, rest, labelled := strings.Cut(rest, "-----")
		body, rest, ended := strings.Cut(rest, "-----END "+label+"-----")
		if !labelled || !ended {
			return nil, errBrokenPEM
		}
		if strings.Contains(body, "ENCRYPTED") {
			return nil, errOldEncryption
		}
		der, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(body), ""))
		if err != nil {
			return nil, errBrokenPEM
		}
		blocks = append(blocks, pem.Block{Type: label, Bytes: der})
		text = rest
	}
}

func trusted(text string) (found []*x509.Certificate, err error) {
	blocks, err := pemBlocks(text)
	if err != nil {
		return nil, err
	}
	for _, block := range blocks {
		if block.Type != "CERTIFICATE" {
			continue
		}
		certificate, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, errCertificate
		}
		found = append(found, certificate)
	}
	return found, nil
}

func keyPair(text, password string) (tls.Certificate, error) {
	blocks, err := pemBlocks(text)
	if err != nil {
		return tls.Certificate{}, err
	}
	var chain, keys bytes.Buffer
	count := 0
	for _, block := range blocks {
		if block.Type == "ENCRYPTED PRIVATE KEY" {
			if block, err = decrypted(block, password); err != nil {
				return tls.Certificate{}, err
			}
		}
		switch {
		case block.Type == "CERTIFICATE":
			_ = pem.Encode(&chain, &block)
		case strings.HasSuffix(block.Type, "PRIVATE KEY"):
			_ = pem.Encode(&keys, &block)
			count++
		}
	}
	switch {
	case chain.Len() == 0:
		return tls.Certificate{}, errNoCertificate
	case count == 0:
		return tls.Certificate{}, errNoKey
	case count > 1:
		return tls.Certificate{}, errTwoKeys
	}
	return tls.X509KeyPair(chain.Bytes(), keys.Bytes())
}

func decrypted(block pem.Block, password string) (pem.Block, error) {
	if password == "" {
		return block, errEncryptedKey
	}
	if plain, is, err := tripleDESKey(block.Bytes, password); is {
		return pem.Block{Type: "PRIVATE KEY", Bytes: plain}, err
	}
	key, err := pkcs8.ParsePKCS8PrivateKey(block.Bytes, []byte(password))
	if err != nil {
		return block, errKeyPassword
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return block, errKeyPassword
	}
	return pem.Block{Type: "PRIVATE KEY", Bytes: der}, nil
}
