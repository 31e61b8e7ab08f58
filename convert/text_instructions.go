// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"regexp"
	"strings"
)

// CodeInstructions is the warning about text that talks to an agent.
const CodeInstructions = "instruction-like-text"

// instructionReach is how far behind its first word a phrase may reach, in bytes.
const instructionReach = 160

// maxPhraseTries bounds the looks at one first word: who repeats it more often wants
// to cost time, and the warning needs no exact number.
const maxPhraseTries = 2000

// InstructionLike counts the phrases in visible text that are aimed at an
// agent rather than at a reader: to ignore earlier instructions, to take
// another part, to reveal the system prompt, to keep something from the user.
// It only counts: a page about such attacks holds them too. It knows English,
// German, French, Italian, Spanish,
// Portuguese, Russian, Chinese, Japanese and Korean.
func InstructionLike(text string) (n int) {
	lower := strings.ToLower(text)
	for trigger, pattern := range instructionPatterns {
		for at, tries := 0, 0; tries < maxPhraseTries; tries++ {
			i := strings.Index(lower[at:], trigger)
			if i < 0 {
				break
			}
			begin := at + i
			at = begin + len(trigger)
			if pattern.MatchString(lower[begin:min(len(lower), begin+instructionReach)]) {
				n++
			}
		}
	}
	return n
}

// earlier and rules are the words between which most of these phrases stand.
const (
	earlier = `(?:all |any |of |the |your |my |these |those |every |other )*(?:previous|prior|above|earlier|preceding|former|existing|original|system)`
	rules   = `(?:instructions?|prompts?|directions?|directives?|rules|guidelines|commands?|messages?|context|constraints)`
)

// instructionPatterns holds, for the first word of a phrase, how it goes on.
// The first word is searched for as it stands, which is fast; the pattern runs
// only where it was found.
var instructionPatterns = map[string]*regexp.Regexp{
	"ignore ":    regexp.MustCompile(`^ignore ` + earlier + `(?: and [a-z]+)?\s(?:\w+ ){0,3}?` + rules + `\b`),
	"disregard ": regexp.MustCompile(`^disregard ` + earlier + `(?: and [a-z]+)?\s(?:\w+ ){0,3}?` + rules + `\b`),
	"forget ":    regexp.MustCompile(`^forget (?:everything (?:you|above|before)|` + earlier + `\s(?:\w+ ){0,3}?` + rules + `\b)`),
	"override ":  regexp.MustCompile(`^override ` + earlier + `\s(?:\w+ ){0,3}?` + rules + `\b`),
	"you are now ": regexp.MustCompile(`^you are now (?:(?:an? |the |acting |operating )(?:\w+ ){0,4}?(?:assistant|ai|agent|model|chatbot|bot|` +
		`unrestricted|jailbroken)|(?:in )?(?:developer mode|jailbroken|unrestricted|dan))\b`),
	"system prompt":        regexp.MustCompile(`^system prompt(?: is|:| override| update| begins|\W{1,3}you)`),
	"your system ":         regexp.MustCompile(`^your system (?:prompt|message|instructions?)`),
	"new instructions":     regexp.MustCompile(`^new instructions(?: for (?:the |an? |any )?(?:ai|assistants?|agents?|models?|llms?)\b|:)`),
	"ai assistant":         regexp.MustCompile(`^ai assistants?(?: that| who| which| reading| visiting| processing|,)?(?: \w+){0,6}? (?:must|should|shall|are required|have to|need to) `),
	"ai agent":             regexp.MustCompile(`^ai agents?(?: that| who| which| reading| visiting| processing|,)(?: \w+){0,6}? (?:must|shall|are required|have to) `),
	"language model":       regexp.MustCompile(`^language models?(?: that| who| which| reading| processing|,)(?: \w+){0,6}? (?:must|should|shall|are required|have to) `),
	"if you are an ":       regexp.MustCompile(`^if you are an (?:ai|llm|automated|language model|artificial)\b`),
	"as an ai ":            regexp.MustCompile(`^as an ai (?:assistant|agent|model|language model|reading)[^.\n]{0,60}? you (?:must|should|shall|are required|have to)`),
	"do not tell the ":     regexp.MustCompile(`^do not tell the (?:user|human|operator)`),
	"do not inform the ":   regexp.MustCompile(`^do not (?:inform) the (?:user|human|operator)`),
	"without telling the ": regexp.MustCompile(`^without telling the (?:user|human|operator)`),
	"attention ai":         regexp.MustCompile(`^attention,? ai\b`),
	"note to ai":           regexp.MustCompile(`^note to ais?\b`),

	"ignoriere ":      regexp.MustCompile(`^ignoriere (?:alle |die |deine |sämtliche )*(?:vorherigen|bisherigen|obigen|früheren|vorigen|vorangegangenen) (?:anweisungen|instruktionen|befehle|regeln)`),
	"ignorieren sie ": regexp.MustCompile(`^ignorieren sie (?:alle |die |ihre )*(?:vorherigen|bisherigen|obigen|früheren|vorigen) (?:anweisungen|instruktionen|befehle|regeln)`),
	"vergiss ":        regexp.MustCompile(`^vergiss (?:alle |deine |die )*(?:vorherigen|bisherigen|obigen|früheren) (?:anweisungen|instruktionen)`),
	"ignorez ":        regexp.MustCompile(`^ignorez (?:toutes |tous |les |vos )*(?:instructions|consignes)(?: précédentes| antérieures| ci-dessus)`),
	"ignore toutes ":  regexp.MustCompile(`^ignore toutes les (?:instructions|consignes)`),
	"ignora ":         regexp.MustCompile(`^ignora (?:todas |las |tus |tutte |le )*(?:instrucciones|istruzioni|órdenes)(?: anteriores| previas| precedenti)`),
	"ignore as ":      regexp.MustCompile(`^ignore as instruções(?: anteriores| acima)?`),
	"ignore todas ":   regexp.MustCompile(`^ignore todas as instruções`),
	"игнорируй":       regexp.MustCompile(`^игнорируй(?:те)? (?:все )?(?:предыдущие|прежние|вышеуказанные) (?:инструкции|указания|команды)`),
	"忽略":              regexp.MustCompile(`^忽略(?:掉)?(?:你|您)?(?:之前|以上|上述|先前|前面|所有|此前)(?:的)?(?:所有|全部|一切)?(?:的)?(?:指令|指示|提示|命令|规则|說明|说明)`),
	"指示を":             regexp.MustCompile(`^指示を(?:すべて|全て)?(?:無視|忘れ)`),
	"지시":              regexp.MustCompile(`^지시(?:사항)?(?:을|를)? ?(?:모두 )?무시`),
}
