// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

// The letters and characters below are the ones that running text of each
// language uses most, in no exact order: a guess needs the class, not the rank.

const (
	commonSimplified = "的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里" +
		"用道行所然家种事成方多经么去法学如都同现当没动面起看定天分还进好小部其些主样理心她本前开但因只从想实日军者意无力它与长把机十民第公此已工" +
		"使情明性知全三又关点正业外将两高间由问很最重并物手应战向头文体政美相见被利什二等产或新己制身果加西斯月话合回特代内信表化老给世位次度门任" +
		"常先海通教儿原东声提立及比员解水名真论处走义各入几口认条平系气题活尔更别打女变四神总何电数安少报才结反受目太量再感建务做接必场件计管期市直" +
		"德资命山金指克许统区保至队形社便空决治展马科司五基眼书非则听白却界达光放强即像难且权思王象完设式色路记南品住告类求据程北边死张该交规万取拉" +
		"格望觉术领共确传师观清今切院让识候带导争运笔网页简字码编请首站版型息服供本例号码据库件载登录标签链接按钮查询语言，。、：；？！《》“”（）"
	commonTraditional = "的一是不了在人有我他這個們中來上大為和國地到以說時要就出會可也你對生能而子那得於著下自之年過發後作裡" +
		"用道行所然家種事成方多經麼去法學如都同現當沒動面起看定天分還進好小部其些主樣理心她本前開但因只從想實日軍者意無力它與長把機十民第公此已工" +
		"使情明性知全三又關點正業外將兩高間由問很最重並物手應戰向頭文體政美相見被利什二等產或新己制身果加西斯月話合回特代內信表化老給世位次度門任" +
		"常先海通教兒原東聲提立及比員解水名真論處走義各入幾口認條平系氣題活爾更別打女變四神總何電數安少報才結反受目太量再感建務做接必場件計管期市直" +
		"德資命山金指克許統區保至隊形社便空決治展馬科司五基眼書非則聽白卻界達光放強即像難且權思王象完設式色路記南品住告類求據程北邊死張該交規萬取拉" +
		"格望覺術領共確傳師觀清今切院讓識候帶導爭運筆網頁繁字碼編請首站版型息服供例號庫載登錄標籤鏈按鈕查詢語言臺灣讀週晚始，。、：；？！「」『』（）"
	commonHangul = "이다는의에을가한고하지로기는를은사리도어아인서나자시대해일수있그정라과들보만스부요장전여주것원구제으문상성무거동오면국연생년조소우위게니등" +
		"마비와선세방공내진적까신안경중개용모관때치보트산유명관회학실물화계양계당단입말미바발법현통행영교속업습러된않없같더려세터간강력설분필민활모든" +
		"드음심천차론출추감초량체저할함합던데따파판평표품프피호포크코타토카월여외예운울음의었였겠됩됐됨람난날남냐너네노녀누능님닌달담답두둘뒤등락래략" +
		"레렇력련령례록료류률름릉린림립맞매먼며명목몸반받배번별병복본북불뿐살새색석식약언열염온완왕왜욕잘점정존좋죄즉질집찰참책처척철최축충층친큰편할향형혼환황효후희흔힘어문서"
	commonKanji = "日本人一大年会国中時者社行自事出分場生的上文明部前地間今方業後東学金作見力動新立小来以所最高定同当通体気対合入下書先理実" +
		"言家内月何長手法相意発物表回全問子心野開要性京現思名都用女面不話公道電題度数化代強取主戦正結報私期関政経連水教第集保成知系海機元情制食最加田" +
		"世界的目次首説語章読漢字変更各特別作成表示方法設定入力検索情報利用者機能追加使用環境必要場合対応内容以上以下可能問題理由"
	kanaMarks = "、。「」ー・"
)

// pairModels are the encodings that write a character in two bytes.
func pairModels() []pairModel {
	return []pairModel{
		{charset: "shift_jis", langs: "ja", common: commonKanji + kanaMarks, points: pointsShiftJIS, single: singleShiftJIS, kana: kanaShiftJIS},
		{charset: "euc-jp", langs: "ja", common: commonKanji + kanaMarks, points: pointsEUCJP, kana: kanaEUC},
		{charset: "gbk", langs: "zh", common: commonSimplified, points: pointsGBK},
		{charset: "big5", langs: "zh-hant zh", common: commonTraditional, points: pointsBig5},
		{charset: "euc-kr", langs: "ko", common: commonHangul, points: pointsEUCKR},
	}
}

func within(b, low, high byte) bool { return b >= low && b <= high }

// pointsShiftJIS follows the rows of JIS X 0208 as Shift_JIS lays them out.
func pointsShiftJIS(lead, trail byte) float64 {
	if !within(lead, 0x81, 0x9F) && !within(lead, 0xE0, 0xFC) || !within(trail, 0x40, 0xFC) || trail == 0x7F {
		return errorPoints
	}
	switch {
	case kanaShiftJIS(lead, trail):
		return 3.6
	case lead == 0x81:
		return 1
	case within(lead, 0x88, 0x97), lead == 0x98 && trail <= 0x72:
		return 2 // level 1
	case lead == 0x82:
		return 1 // full-width letters and digits
	case within(lead, 0x98, 0x9F), within(lead, 0xE0, 0xEA):
		return -1
	}
	return -3
}

// singleShiftJIS takes the half-width kana, which few pages use.
func singleShiftJIS(b byte) (float64, bool) { return -1, within(b, 0xA1, 0xDF) }

func kanaShiftJIS(lead, trail byte) bool {
	return lead == 0x82 && within(trail, 0x9F, 0xF1) || lead == 0x83 && within(trail, 0x40, 0x96)
}

// pointsEUCJP follows the rows of JIS X 0208; 8F opens JIS X 0212, which pages
// hardly use, and 8E a half-width kana.
func pointsEUCJP(lead, trail byte) float64 {
	switch {
	case lead == 0x8E && within(trail, 0xA1, 0xDF), lead == 0x8F && within(trail, 0xA1, 0xFE):
		return -2
	case !within(lead, 0xA1, 0xFE) || !within(trail, 0xA1, 0xFE):
		return errorPoints
	case kanaEUC(lead, trail):
		return 3.6
	case lead == 0xA1, lead == 0xA3:
		return 1
	case within(lead, 0xB0, 0xCF):
		return 2
	case within(lead, 0xD0, 0xF4):
		return -1
	}
	return -3
}

func kanaEUC(lead, trail byte) bool {
	return lead == 0xA4 && within(trail, 0xA1, 0xF3) || lead == 0xA5 && within(trail, 0xA1, 0xF6)
}

// pointsGBK follows GB 2312: rows 16 to 55 hold the frequent characters.
func pointsGBK(lead, trail byte) float64 {
	switch {
	case !within(lead, 0x81, 0xFE) || trail == 0x7F || trail == 0xFF:
		return errorPoints
	case trail < 0x40:
		if within(trail, '0', '9') {
			return -1 // may open four bytes of GB 18030
		}
		return errorPoints
	case trail < 0xA1:
		return -0.5 // characters that only GBK has
	case lead == 0xA1, lead == 0xA3:
		return 1
	case within(lead, 0xB0, 0xD7):
		return 2
	case within(lead, 0xD8, 0xF7):
		return -0.5
	case lead < 0xA1:
		return -1
	}
	return -3 // kana, box drawing, private use
}

// pointsBig5 follows Big5: A440 to C67E hold the frequent characters.
func pointsBig5(lead, trail byte) float64 {
	switch {
	case !within(lead, 0x81, 0xFE) || !within(trail, 0x40, 0x7E) && !within(trail, 0xA1, 0xFE):
		return errorPoints
	case within(lead, 0xA4, 0xC5), lead == 0xC6 && trail <= 0x7E:
		return 2
	case within(lead, 0xA1, 0xA3):
		return 1
	case within(lead, 0xC9, 0xF9):
		return -0.5
	}
	return -3
}

// pointsEUCKR follows KS X 1001: rows 16 to 40 hold the syllables.
func pointsEUCKR(lead, trail byte) float64 {
	switch {
	case !within(lead, 0x81, 0xFE) || trail < 0x41 || trail == 0xFF:
		return errorPoints
	case within(lead, 0xB0, 0xC8) && trail >= 0xA1:
		return 1.6
	case within(lead, 0xA1, 0xA3) && trail >= 0xA1:
		return 0.5
	case lead < 0xC7 && (within(trail, 0x41, 0x5A) || within(trail, 0x61, 0x7A) || within(trail, 0x81, 0xFE)) && trail < 0xA1:
		return -1 // the rarer syllables of windows-949
	case within(lead, 0xCA, 0xFD) && trail >= 0xA1:
		return -1.5
	case trail < 0xA1:
		return errorPoints
	}
	return -3
}

const (
	russian     = "оеаинтсрвлкмдпу"
	rareRussian = "яыьгзбчйхжшюц"
	ukrainian   = russian + "іїєґ"
	greek       = "αοιετσνηυρπκμλςάέίόήύ"
	rareGreek   = "γδθχφβωώξζψϊϋΐΰΆΈΉΊΌΎΏ"
	hebrew      = "יוהלאתמרבשנדע"
	rareHebrew  = "כחפגקצסטזםןךףץ"
	arabic      = "اليمنرتوبعدسفهكحقة"
	rareArabic  = "جأشصطخضذىثغزئءإآؤظپچژگںےھ"
	thai        = "านรกอเงมยลวดทสตะคปบแห่้ิีัืุู็์ำไใ"
	rareThai    = "พจขชถโศธณภซฐผฝฟญฎฏฒฆฑฌฉฮ๊๋ึาๆฯ๐๑๒๓๔๕๖๗๘๙"
)

// byteModels are the encodings that write a letter in one byte, the likelier
// of two equal ones first.
func byteModels() []byteModel {
	return []byteModel{
		{charset: latinName, langs: "de", common: "äöüß", rare: "éèàç", latin: true},
		{charset: latinName, langs: "fr", common: "éèêàçùâîôûëïœ", rare: "ÿæü", latin: true},
		{charset: latinName, langs: "es ca gl", common: "áéíóúñü", rare: "çàèòïºª", latin: true},
		{charset: latinName, langs: "pt", common: "ãõáéíóúâêôàç", rare: "üºª", latin: true},
		{charset: latinName, langs: "it", common: "àèéìòù", rare: "îºª", latin: true},
		{charset: latinName, langs: "sv da no nb nn fi", common: "åäöæø", rare: "éü", latin: true},
		{charset: latinName, langs: "is fo", common: "áéíóúýðþæö", rare: "", latin: true},
		{charset: "windows-1251", langs: "ru bg be", common: russian, rare: rareRussian + "іїєґўќѓ"},
		{charset: "koi8-r", langs: "ru", common: russian, rare: rareRussian},
		{charset: "ibm866", langs: "ru", common: russian, rare: rareRussian},
		{charset: "iso-8859-5", langs: "ru bg sr mk", common: russian, rare: rareRussian},
		{charset: "windows-1251", langs: "uk", common: ukrainian, rare: rareRussian},
		{charset: "koi8-u", langs: "uk", common: ukrainian, rare: rareRussian},
		{charset: "windows-1253", langs: "el", common: greek, rare: rareGreek},
		{charset: "iso-8859-7", langs: "el", common: greek, rare: rareGreek},
		{charset: "windows-1255", langs: "he iw yi", common: hebrew, rare: rareHebrew},
		{charset: "windows-1256", langs: "ar fa ur", common: arabic, rare: rareArabic},
		{charset: "windows-874", langs: "th", common: thai, rare: rareThai},
		{charset: "windows-1250", langs: "pl", common: "ąćęłńóśźż", rare: "", latin: true},
		{charset: "iso-8859-2", langs: "pl", common: "ąćęłńóśźż", rare: "", latin: true},
		{charset: "windows-1250", langs: "cs sk", common: "áčďéěíňóřšťúůýž", rare: "äľĺŕô", latin: true},
		{charset: "iso-8859-2", langs: "cs sk", common: "áčďéěíňóřšťúůýž", rare: "äľĺŕô", latin: true},
		{charset: "windows-1250", langs: "hu", common: "áéíóöőúüű", rare: "", latin: true},
		{charset: "windows-1250", langs: "ro hr sl sr", common: "ăâîşţčćšžđ", rare: "", latin: true},
		{charset: "windows-1254", langs: "tr", common: "ğışöçüİ", rare: "âîû", latin: true},
	}
}
