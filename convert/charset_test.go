// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"bytes"
	"encoding/hex"
	"errors"
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/dipper-web/dipper/fault"
)

// rows reads a table of testdata: tabs between the columns, lines that begin
// with a number sign left out.
func rows(t testing.TB, name string, columns int) [][]string {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	var out [][]string
	for line := range strings.Lines(string(data)) {
		line = strings.TrimRight(line, "\n")
		if line == "" || strings.HasPrefix(line, "# ") {
			continue
		}
		cells := strings.Split(line, "\t")
		if len(cells) != columns {
			t.Fatalf("%s: %d columns in %q, want %d", name, len(cells), line, columns)
		}
		out = append(out, cells)
	}
	if len(out) == 0 {
		t.Fatalf("%s has no rows", name)
	}
	return out
}

func TestDecodeRows(t *testing.T) {
	for _, row := range rows(t, "charset.tsv", 6) {
		id, contentType, encoding, text, why := row[0], row[1], row[3], row[4], row[5]
		t.Run(id, func(t *testing.T) {
			body, err := hex.DecodeString(row[2])
			if err != nil {
				t.Fatal(err)
			}
			html := kindOf(contentType, body, "https://example.org/") == KindHTML
			got, name, _, err := decode(body, contentType, html)
			if encoding == "replacement" {
				var f *fault.Error
				if !errors.As(err, &f) || f.Kind != fault.Unreadable || f.Cause != fault.Charset {
					t.Fatalf("error %v, want unreadable/charset (%s)", err, why)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if name != encoding {
				t.Errorf("charset %q, want %q (%s)", name, encoding, why)
			}
			if !strings.Contains(got, text) {
				t.Errorf("text %q lacks %q (%s)", got, text, why)
			}
		})
	}
}

func TestDecodeSaysWhenItGuessed(t *testing.T) {
	utf := "<p>Schrauben für Außenwände: 40 Stück</p>"
	for _, test := range []struct {
		name, contentType, body string
		html, guessed           bool
	}{
		{"declared and right", "text/html; charset=utf-8", utf, true, false},
		{"undeclared ASCII", "text/html", "<p>plain</p>", true, false},
		{"undeclared UTF-8 proves itself", "text/html", utf, true, false},
		{"unknown label", "text/html; charset=iso-88509-1", utf, true, true},
		{"unknown label over ASCII", "text/html; charset=bogus", "<p>plain</p>", true, false},
		{"undeclared legacy bytes", "text/plain", "Gr\xf6\xdfe f\xfcr \xdcbung", false, true},
		{"latin1 label over UTF-8", "text/html; charset=iso-8859-1", utf, true, true},
		{"latin1 label over latin1", "text/html; charset=iso-8859-1", "Gr\xf6\xdfe", true, false},
		{"meta is a declaration", "text/html", "<meta charset=koi8-r><p>\xf2\xd5\xd3\xd3\xcb\xc9\xca</p>", true, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, _, guessed, err := decode([]byte(test.body), test.contentType, test.html)
			if err != nil || guessed != test.guessed {
				t.Errorf("guessed %v (%v), want %v", guessed, err, test.guessed)
			}
		})
	}
}

func TestDecodeContradictions(t *testing.T) {
	gbk := encode(t, "gbk", strings.Repeat("今天的气温是二十三度。", 4))
	for _, test := range []struct {
		name, contentType, body, charset, text string
	}{
		{"header beats an old meta", "text/html; charset=utf-8", "<meta charset=iso-8859-1>Teléfonos útiles", "utf-8", "Teléfonos útiles"},
		{"UTF-8 header over GBK with a GBK meta", "text/html; charset=utf-8", "<meta charset=gb2312>" + gbk, "gbk", "今天的气温"},
		{"default latin1 header over GBK with a GBK meta", "text/html; charset=iso-8859-1", "<meta charset=gb2312>" + gbk, "gbk", "今天的气温"},
		{"UTF-8 header over bytes that never are", "text/html; charset=utf-8", gbk, "gbk", "今天的气温"},
		{"UTF-8 header and a few stray bytes stay UTF-8", "text/html; charset=utf-8", "Größe \xfc\xff und Maß", "utf-8", "Größe \uFFFD\uFFFD und Maß"},
		{"UTF-16 label over ASCII bytes", "text/html; charset=utf-16", "<p>plain</p>", "utf-8", "plain"},
		{"UTF-16 label over Han text", "text/plain; charset=utf-16be", "\x65\xe5\x67\x2c\x8a\x9e\x30\x6e", "utf-16be", "日本語の"},
		{"undeclared UTF-16", "", "<\x00p\x00>\x00\xe5\x65<\x00/\x00p\x00>\x00", "utf-16le", "<p>日</p>"},
		{"undeclared iso-2022-jp", "text/plain", "\x1b$BF|K\\8l\x1b(B", "iso-2022-jp", "日本語"},
		{"XML declaration in plain XML", "application/xml", "<?xml version='1.0' encoding='koi8-r'?><a>\xd4\xc5\xcb\xd3\xd4</a>", "koi8-r", "текст"},
		{"meta does not count in plain text", "text/plain", "<meta charset=koi8-r> Gr\xf6\xdfe", latinName, "Größe"},
		{"meta with a comma", "text/html", `<meta http-equiv=content-type content="text/html, charset=koi8-r">` + "\xd4\xc5\xcb\xd3\xd4", "koi8-r", "текст"},
		{"a description is no declaration", "text/html", `<meta name=description content="charset=koi8-r"><p>größer, schöner, süßer</p>`, "utf-8", "größer"},
		{"UTF-8 with two broken bytes", "text/html", strings.Repeat("Größe für Übung, ", 20) + "\xff\xfe", "utf-8", "Größe"},
		{"user-defined meta", "text/html", "<meta charset=x-user-defined>Gr\xf6\xdfe", latinName, "Größe"},
	} {
		t.Run(test.name, func(t *testing.T) {
			text, name, _, err := decode([]byte(test.body), test.contentType, strings.Contains(test.contentType, "html"))
			if err != nil {
				t.Fatal(err)
			}
			if name != test.charset || !strings.Contains(text, test.text) {
				t.Errorf("%s %q, want %s with %q", name, text, test.charset, test.text)
			}
		})
	}
}

func encode(t testing.TB, charset, text string) string {
	t.Helper()
	out, err := encodingOf(charset).NewEncoder().String(text)
	if err != nil {
		t.Fatalf("%s cannot hold the sample: %v", charset, err)
	}
	return out
}

// samples are a few sentences in each language, as a page may hold them.
var samples = map[string]string{
	"ja":      "港の事務所は毎朝八時に開きます。船の時刻表は入口の横に貼ってあります。\nファイルを保存する前に、設定を確認してください。",
	"zh":      "港口办公室每天早上八点开门，船的时间表贴在入口旁边。\n请先检查设置，然后再保存文件，否则数据可能会丢失。",
	"zh-hant": "港口辦公室每天早上八點開門，船的時間表貼在入口旁邊。\n請先檢查設定，然後再儲存檔案，否則資料可能會遺失。",
	"ko":      "항구 사무실은 매일 아침 여덟 시에 문을 엽니다. 배 시간표는 입구 옆에 붙어 있습니다.\n파일을 저장하기 전에 설정을 확인하십시오.",
	"ru":      "Контора порта открывается каждое утро в восемь часов. Расписание судов висит рядом со входом.\nПеред сохранением файла проверьте настройки.",
	"uk":      "Контора порту відчиняється щоранку о восьмій годині. Розклад суден висить біля входу. Її ключ у сторожа.",
	"el":      "Το γραφείο του λιμανιού ανοίγει κάθε πρωί στις οκτώ. Το πρόγραμμα των πλοίων είναι δίπλα στην είσοδο.",
	"he":      "משרד הנמל נפתח בכל בוקר בשעה שמונה. לוח הזמנים של הספינות תלוי ליד הכניסה.",
	"ar":      "يفتح مكتب الميناء كل صباح في الساعة الثامنة. جدول السفن معلق بجانب المدخل.",
	"th":      "สำนักงานท่าเรือเปิดทุกเช้าเวลาแปดโมง ตารางเรือติดอยู่ข้างทางเข้า",
	"de":      "Das Hafenbüro öffnet täglich um acht Uhr. Der Fahrplan hängt neben dem Eingang; größere Schiffe müssen sich früh anmelden.",
	"fr":      "Le bureau du port ouvre à huit heures. L'horaire des bateaux est affiché près de l'entrée, où les élèves attendent déjà.",
	"es":      "La oficina del puerto abre cada mañana a las ocho. El horario está junto a la entrada; ¿quién tiene la llave del almacén?",
	"pl":      "Biuro portu otwiera się codziennie o ósmej. Rozkład rejsów wisi obok wejścia; większe łodzie muszą zgłosić się wcześniej.",
	"cs":      "Přístavní kancelář otevírá každé ráno v osm hodin. Jízdní řád lodí visí vedle vchodu; větší lodě se musí ohlásit dříve.",
	"tr":      "Liman ofisi her sabah saat sekizde açılır. Gemi tarifesi girişin yanında asılıdır; büyük gemiler önceden bildirmelidir. Şişli ığdır.",
	"sv":      "Hamnkontoret öppnar varje morgon klockan åtta. Tidtabellen hänger bredvid ingången; större båtar måste anmäla sig tidigt.",
}

func TestGuessCharset(t *testing.T) {
	for _, test := range []struct{ charset, lang string }{
		{"shift_jis", "ja"}, {"euc-jp", "ja"}, {"iso-2022-jp", "ja"}, {"gbk", "zh"}, {"big5", "zh-hant"}, {"euc-kr", "ko"},
		{"windows-1251", "ru"}, {"koi8-r", "ru"}, {"ibm866", "ru"}, {"windows-1251", "uk"}, {"koi8-u", "uk"}, {"windows-1253", "el"},
		{"windows-1255", "he"}, {"windows-1256", "ar"}, {"windows-874", "th"}, {latinName, "de"}, {latinName, "fr"}, {latinName, "es"},
		{latinName, "sv"}, {"windows-1250", "pl"}, {"windows-1250", "cs"}, {"windows-1254", "tr"}, {"utf-8", "th"}, {"utf-16le", "de"},
	} {
		t.Run(test.charset+" "+test.lang, func(t *testing.T) {
			body := "<!doctype html><title>x</title><body><p>" + samples[test.lang] + "</p>"
			text, name, _, err := decode([]byte(encode(t, test.charset, body)), "text/html", true)
			if err != nil {
				t.Fatal(err)
			}
			if text != body {
				t.Errorf("guessed %s: %q", name, text)
			}
		})
	}
}

// Every line on its own must do as well: titles and snippets are short.
func TestGuessShortText(t *testing.T) {
	right, all := 0, 0
	for _, test := range []struct{ charset, lang string }{
		{"shift_jis", "ja"}, {"euc-jp", "ja"}, {"gbk", "zh"}, {"big5", "zh-hant"}, {"euc-kr", "ko"}, {"windows-1251", "ru"}, {"koi8-r", "ru"}, {latinName, "de"}, {latinName, "fr"},
	} {
		runes := []rune(samples[test.lang])
		for i := 0; i+20 <= len(runes); i += 10 {
			all++
			part := string(runes[i : i+20])
			if text, name, _, _ := decode([]byte(encode(t, test.charset, part)), "text/plain", false); text == part {
				right++
			} else {
				t.Logf("%s %q was read as %s", test.charset, part, name)
			}
		}
	}
	if right*100 < all*93 {
		t.Errorf("%d of %d pieces of 20 characters were read right, want 93%%", right, all)
	}
}

func TestLanguageBreaksTies(t *testing.T) {
	word := encode(t, "windows-1250", "Příliš žluťoučký kůň")
	text, name, _, _ := decode([]byte("<html lang=cs-CZ><p>"+word), "text/html", true)
	if !strings.Contains(text, "žluťoučký") {
		t.Errorf("%s: %q", name, text)
	}
}

func TestGuessIsBounded(t *testing.T) {
	body := bytes.Repeat([]byte("\xf0\x9f\xa4\xb1\x81\x30 <p>"), 1<<20)
	start := time.Now()
	if _, _, _, err := decode(body, "text/html", true); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(start); took > time.Minute {
		t.Errorf("%d MiB of broken bytes took %v", len(body)>>20, took)
	}
}

func TestText(t *testing.T) {
	text, charset, err := Text(Input{Body: []byte("\xef\xbb\xbfa<b>"), Type: "text/plain"})
	if text != "a<b>" || charset != "utf-8" || err != nil {
		t.Errorf("%q %q %v", text, charset, err)
	}
}

func FuzzDecode(f *testing.F) {
	for _, row := range rows(f, "charset.tsv", 6) {
		body, _ := hex.DecodeString(row[2])
		f.Add(body, row[1], true)
	}
	f.Add([]byte("\x83<b>"), "text/html; charset=shift_jis", true)
	f.Fuzz(func(t *testing.T, body []byte, contentType string, html bool) {
		text, charset, _, err := decode(body, contentType, html)
		if err != nil {
			var f *fault.Error
			if !errors.As(err, &f) || f.Kind != fault.Unreadable {
				t.Fatalf("error %v", err)
			}
			return
		}
		if !utf8.ValidString(text) {
			t.Fatalf("%s gave invalid UTF-8", charset)
		}
		if encodingOf(charset) == nil {
			t.Fatalf("unknown charset %q", charset)
		}
		if len(text) > 6*len(body)+6 {
			t.Fatalf("%d bytes became %d", len(body), len(text))
		}
	})
}
