package convert

import (
	"os"
	"testing"
)

func TestZZ(t *testing.T) {
	b, err := os.ReadFile("/tmp/conv/in.html")
	if err != nil {
		t.Skip()
	}
	Markdown(Input{Body: b, Type: "text/html; charset=utf-8", URL: "http://a.test/"})
}
