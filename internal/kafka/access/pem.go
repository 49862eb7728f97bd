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
	errEncryptedKey  = errors.New("the private key is encrypted")
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
		if strings.Contains(label, "ENCRYPTED") || strings.Contains(body, "ENCRYPTED") {
			return nil, errEncryptedKey
		}
		der, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(body), ""))
		if err != nil {
			return nil, errBrokenPEM
		}
		blocks = append(blocks, pem.Block{Type: label, Bytes: der})
		text = rest
	}
}

func trusted(text string) (pool *x509.CertPool, ders [][]byte, err error) {
	blocks, err := pemBlocks(text)
	if err != nil {
		return nil, nil, err
	}
	pool = x509.NewCertPool()
	for _, block := range blocks {
		if block.Type != "CERTIFICATE" {
			continue
		}
		certificate, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, nil, errCertificate
		}
		pool.AddCert(certificate)
		ders = append(ders, block.Bytes)
	}
	if len(ders) == 0 {
		return nil, nil, errNoCertificate
	}
	return pool, ders, nil
}

func keyPair(text string) (tls.Certificate, error) {
	blocks, err := pemBlocks(text)
	if err != nil {
		return tls.Certificate{}, err
	}
	var chain, keys bytes.Buffer
	count := 0
	for _, block := range blocks {
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
