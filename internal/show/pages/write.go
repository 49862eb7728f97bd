package pages

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strings"

	"kafkabench.example/kafka-bench/internal/show/draw"
)

//go:embed assets/page.html
var pageHTML string

//go:embed assets/page.css
var pageCSS string

//go:embed assets/chart.js
var chartJS string

//go:embed assets/list.js
var listJS string

// Style returns the CSS of every page, with that of the charts.
func Style() string { return pageCSS + draw.Style() }

// Scripts returns the ES modules of every page, by file name. None imports another.
func Scripts() map[string]string { return map[string]string{"chart.js": chartJS, "list.js": listJS} }

// Options say where a page will be.
type Options struct {
	// Href returns the address of a run's page, by its folder; "" if there is none. Nil means that
	// no run has a page.
	Href func(dir string) string
	// Assets is the beginning of the addresses of page.css and of Scripts, for a server that sends
	// the content security policy itself. "" makes the page contain them.
	Assets string
	// CSS is further style of a page that contains its style.
	CSS string
	// Modules are further scripts of the server, by file name.
	Modules []string
	// Links are above the page.
	Links []Link
}

// Link is a text with an address.
type Link struct{ Text, Href string }

type written struct {
	*Page
	Policy template.HTMLAttr
	CSS    template.CSS
	JS     []template.JS
	Assets string
	Names  []string
	Links  []Link
	Grids  []grid
	Charts bool
}

// Write writes the page as HTML. Errors are those of w.
func (p *Page) Write(w io.Writer, o Options) error {
	t, err := template.New("page").Funcs(template.FuncMap{"href": func(dir string) string {
		if o.Href == nil || dir == "" {
			return ""
		}
		return o.Href(dir)
	}}).Parse(pageHTML)
	if err != nil {
		return err
	}
	page := written{Page: p, Assets: o.Assets, Links: o.Links, Grids: p.grids}
	scripts := []string{chartJS, listJS}
	if o.Assets == "" {
		style := Style() + o.CSS
		page.CSS, page.Policy = template.CSS(style), template.HTMLAttr(`content="`+policy(style, scripts)+`"`)
		for _, script := range scripts {
			page.JS = append(page.JS, template.JS(script))
		}
	} else {
		page.Names = append([]string{"chart.js", "list.js"}, o.Modules...)
	}
	var b bytes.Buffer
	if err := t.Execute(&b, page); err != nil {
		return fmt.Errorf("the page could not be written: %w", err)
	}
	_, err = w.Write(b.Bytes())
	return err
}

func policy(style string, scripts []string) string {
	var hashes []string
	for _, script := range scripts {
		hashes = append(hashes, hashOf(script))
	}
	return "default-src 'none'; style-src " + hashOf(style) + "; script-src " + strings.Join(hashes, " ") +
		"; base-uri 'none'; form-action 'none'"
}

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
