// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import "regexp"

// The words below are how walls, shells and missing pages speak, in lower case
// with single blanks. Titles are matched from their beginning, phrases anywhere.

var (
	challengeTitle = regexp.MustCompile(`^(?:just a moment|one moment, please|attention required|please wait\W|checking your browser|ddos-guard|robot check|are you (?:a robot|human)|` +
		`human verification|bot verification|security (?:check|verification|checkpoint)|vercel security checkpoint|verify(?:ing)? (?:you are|that you are|your)|access to this page has been denied|` +
		`pardon our interruption|making sure you|client challenge|captcha|please verify|nur einen moment|einen moment|un instant|un momento|um momento|sicherheits(?:überprüfung|check|prüfung)|` +
		`один момент|подождите|ой!|вы не робот|请稍候|請稍候|安全验证|安全驗證|百度安全验证|人机验证|验证码|驗證碼|身份验证|しばらくお待ちください|ロボットではありません|잠시만)`)
	challengePhrase = regexp.MustCompile(`verify(?:ing)? (?:that )?you(?: are|'re|’re) (?:a )?(?:human|not a (?:ro)?bot)|prove (?:that )?you(?: are|'re|’re) (?:a )?human|confirm (?:that )?you(?: are|'re|’re) (?:a )?human|` +
		`checking (?:your browser|if the site connection is secure)|enable javascript and cookies to continue|needs to review the security of your connection|` +
		`i(?:'|’)?m not a robot|you(?: are|'re|’re) not a (?:ro)?bot|performing security verification|complete the (?:captcha|security check)|solve (?:the|this) captcha|` +
		`press (?:&|and) hold to confirm|unusual traffic from your|automated (?:access|queries|requests) (?:to|from) (?:this|your)|` +
		`bestätigen sie,? dass sie (?:ein mensch|kein roboter) sind|kein roboter|vérifi(?:er|ez|ons) que vous (?:êtes|n'êtes pas|n’êtes pas) (?:humain|un humain|un robot)|` +
		`verifi(?:que|car) que (?:es|eres|usted es|no es|no eres) (?:un |una )?(?:humano|ser humano|robot)|подтвердите, что (?:вы не робот|запросы отправляли вы)|я не робот|` +
		`(?:请|請)(?:完成|进行|進行|先)(?:安全|人机|人機)?(?:验证|驗證)|确认您是真人|確認您是真人|验证您是(?:否是)?(?:真人|人类)|驗證您是(?:真人|人類)|访问(?:行为)?(?:异常|过于频繁)|拖动滑块|` +
		`あなたが(?:人間|ロボットではない)|人間であることを確認|ロボットではないことを確認|로봇이 아닙니다|사람인지 확인`)
)

var (
	consentTitle = regexp.MustCompile(`^(?:before you continue(?: to (?:google|youtube).*)?|bevor sie (?:fortfahren|zu (?:google|youtube) weitergehen)|avant d['’]accéder à (?:google|youtube).*|` +
		`antes de (?:ir a|continuar a|continuar para) (?:google|youtube).*|yahoo is part of the yahoo family of brands|privacy (?:settings )?gate|consent (?:required|wall|gate))$`)
	consentPhrase = regexp.MustCompile(`mit werbung (?:und cookies )?(?:weiterlesen|nutzen|lesen)|weiter(?:lesen)? mit werbung|werbefrei im abo|lesen sie .{2,40} mit werbung|continuer (?:avec la publicité|sans s['’]abonner)|continue with ads and cookies|accept(?: all)? cookies to continue|cookies must be accepted`)
)

var (
	loginTitle = regexp.MustCompile(`^(?:(?:please )?(?:sign|log) ?in(?: (?:to|with|required|page).*)?|login(?: (?:page|required|form))?|authentication required|single sign-on|sso|anmelden|anmeldung|einloggen|connexion|se connecter|` +
		`iniciar sesión|inicio de sesión|acceder|accedi|accesso|entrar|iniciar sessão|fazer login|вход|войти|авторизация|登录|登入|登錄|用户登录|使用者登入|ログイン|サインイン|로그인|logga in|log ind|logg inn|zaloguj(?: się)?|giriş(?: yap)?|aanmelden|inloggen)$`)
	loginPhrase = regexp.MustCompile(`\b(?:sign ?in|log ?in|login|password|username|anmelden|anmeldung|passwort|benutzername|connexion|mot de passe|contraseña|iniciar sesión|accedi|senha|wachtwoord|inloggen|hasło)\b|пароль|войти|登录|登入|登錄|密码|密碼|ログイン|パスワード|로그인|비밀번호`)
	loginDemand = regexp.MustCompile(`(?:sign|log) ?in (?:to continue|to view (?:this|the)|to access (?:this|the)|to see (?:this|the)|to read (?:this|the)|first)|you (?:must|need to|have to) (?:be (?:signed|logged) in|sign in|log in)|(?:sign|log)in (?:is )?required|` +
		`please (?:sign|log) ?in(?:[.!]|$| to (?:continue|view|access|see|read))|bitte (?:melden sie sich an|loggen sie sich ein|anmelden|einloggen)|sie müssen (?:sich anmelden|angemeldet sein)|veuillez vous (?:connecter|identifier)|vous devez (?:être connecté|vous connecter)|` +
		`(?:debes|debe|necesitas) iniciar sesión|inicia sesión para|(?:необходимо|пожалуйста,) (?:войти|войдите|авторизоваться)|(?:请|請)先?(?:登录|登入|登錄)|登录后(?:查看|可见|继续)|ログインしてください|ログインが必要|로그인이 필요|로그인 후|로그인해 ?주세요`)
	loginPath = regexp.MustCompile(`^(?:accounts|login|signin|sso|auth|idp?)\.|/(?:log[-_]?in|sign[-_]?in|sso|auth|session)(?:[/._-]|$)|/users/sign_in|/wp-login`)
)

var (
	missTitle = regexp.MustCompile(`^(?:(?:error|fehler|erreur|ошибка)?:? ?404(?: error)?[:!.]?(?: (?:-|–|—) )?(?: ?(?:error|page|file)?:? ?(?:not found|page not found|file not found|seite nicht gefunden|nicht gefunden|error|page))?[.!]?|` + missWords + `[.!…]?)$`)
	missHead  = regexp.MustCompile(`^.{0,60}?(?:^|\W)(?:(?:error )?404\b|` + missWords + `)`)
	// missPhrase is how such pages go on.
	missPhrase = regexp.MustCompile(`(?:page|url|address|content|document|link|resource|file)[^.]{0,40}? (?:you (?:requested|are looking for|were looking for|tried|followed)|(?:does|do) ?(?:not|n['’]t) exist|was not found|could ?(?:not|n['’]t) be found|(?:has|have|might have|may have) been (?:removed|moved|deleted)|no longer (?:exists|available))|` +
		`(?:can(?:no|['’])t|could ?n[o'’]t|couldn['’]t|unable to) find (?:the|that|this|what|a)|nothing (?:was found|here)|existiert (?:nicht|leider nicht)|(?:nicht|leider nicht) gefunden|wurde (?:gelöscht|verschoben|entfernt)|n['’]existe (?:pas|plus)|introuvable|no existe|no se (?:ha encontrado|encuentra)|non esiste|não existe|` +
		`не существует|не найден|удалена|(?:页面|頁面|网页|網頁|内容|內容)[^。]{0,12}(?:不存在|已删除|已刪除|被删除|被移除|已移除)|(?:找不到|未找到|无法找到|無法找到)|見つかりません|存在しません|削除され|찾을 수 없|존재하지 않`)
)

var (
	needsScript = regexp.MustCompile(`(?:enable|activate|turn on|switch on|requires?|needs?|without|allow) (?:to run )?(?:the use of )?java ?script|java ?script (?:is |to be |must be |has to be |needs to be |seems to be |appears to be )?(?:required|disabled|enabled|turned off|needed|not enabled|not available|deactivated|off)|java ?script (?:aktivieren|einschalten|zulassen|muss|wird benötigt|ist deaktiviert)|` +
		`(?:aktivieren sie|benötigt|erfordert|ohne) java ?script|(?:activer|activez|nécessite|désactivé) (?:le )?java ?script|(?:habilita|habilite|active|activa|requiere|necesita|ative|abilita|attiva|richiede) (?:el |o )?java ?script|(?:включите|включить|требуется|поддержк\S+) java ?script|java ?script (?:отключ|выключ)|` +
		`(?:启用|啟用|开启|開啟|打开|需要|支持) ?java ?script|java ?script ?(?:を有効|が無効|を使用|를 활성|이 필요|가 필요|을 사용|未启用|已禁用)`)
	loading = regexp.MustCompile(`^(?:loading|please wait|wird geladen|bitte warten|chargement|cargando|caricamento|carregando|загрузка|加载中|載入中|正在加载|読み込み中|로딩 ?중)[\s.…!]*$`)
)

// missWords is the name of a not-found page, whole, in several languages.
const missWords = `(?:page|the page|this page|file|document|url|content|resource)? ?(?:was |could |can ?)?not (?:be )?found|(?:sorry, )?(?:the|this|that|we (?:can(?:no|['’])t|couldn['’]t) find (?:the|that|this)) page (?:was not found|could not be found|doesn['’]t exist|does not exist|is not available|isn['’]t available|cannot be found|can['’]t be found|you['’]re looking for)|` +
	`(?:diese |die )?seite (?:wurde )?nicht gefunden|(?:la )?page (?:non trouvée|introuvable|n['’]existe pas)|página no encontrada|pagina non trovata|página não encontrada|страница не (?:найдена|существует)|` +
	`(?:您访问的|您要找的|该|此)?(?:页面|頁面|网页|網頁)(?:不存在|未找到|找不到(?:了)?|没有找到|已删除|已刪除)|(?:找不到|未找到)(?:该|此|您要的)?(?:页面|頁面|网页|網頁)|ページが(?:見つかりません(?:でした)?|存在しません)|(?:お探しの|指定された)ページ(?:は|が)見つかりません(?:でした)?|` +
	`페이지를 찾을 수 없습니다|pagina niet gevonden|sidan (?:hittades inte|kunde inte hittas)|siden (?:blev ikke fundet|ble ikke funnet|findes ikke|finnes ikke)|sivua ei löytynyt|nie znaleziono strony|strona nie (?:została znaleziona|istnieje)|sayfa bulunamadı|stránka nenalezena|сторінку не знайдено`

var titleBreak = regexp.MustCompile(`\s[|·•»«–—:-]\s|\s?[|｜_»]\s?|:\s`)

var describedPicture = regexp.MustCompile(`<img\s[^>]*\balt\s*=\s*(?:"[^"]*[\pL\pN]|'[^']*[\pL\pN]|[\pL\pN])`)
