// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package extract

import (
	"slices"
	"strings"
)

// stopWords are grammar: they lead to no place on a page. Sorted.
var stopWords = sortedWords(`
a about above after again all also am an and any are aren as at be because been before being below between both
but by can cannot could couldn did didn do does doesn doing don down during each either else ever few for from further get
gets getting give given go goes going got had has hasn have haven having he her here hers him his how i if in into is isn it
its itself just know let like ll m make me more most much must my myself need no nor not now of off on once one only or other
our ours out over own please put re s same say says see shall she should shouldn so some such t take tell than that the their theirs
them then there these they thing this those through to too two under until up us use used using ve very want was wasn way we
well were weren what when where whether which while who whom whose why will with won would wouldn yes you your yours
`)

// softWords are the words with which people talk about pages and ask for things.
// They count little, and a prompt of nothing else asks for the page as a whole.
var softWords = sortedWords(`
answer article brief content contents describe detail details document documentation entire everything explain extract find full
information key list main markdown overview page pages point points question read return section show site summarise summarize
summary text verbatim web website whole
`)

// wideSoft are their Chinese and Japanese fellows, as pairs.
var wideSoft = sortedWords("总结 概述 概括 内容 全文 全部 页面 网页 文章 文档 返回 显示 主要 要点 摘要 介绍 說明 说明 總結 內容 頁面 網頁 文件 要約 概要 ページ 記事 本文 全体")

// stopTerms is stopWords as they look after stem.
var stopTerms = stems(stopWords)

// wideStop holds Chinese characters that carry grammar or ask: a pair made of
// them alone leads nowhere.
const wideStop = "的了是在有和就不也这那我你他她它们么什怎哪吗呢吧啊个为要能会可以该把被给让从到对与及或请问几多少谁何時这這個嗎麼會為對從給讓"

func sortedWords(s string) []string {
	w := strings.Fields(s)
	slices.Sort(w)
	return w
}

func stems(words []string) map[string]bool {
	m := make(map[string]bool, len(words))
	for _, w := range words {
		m[stem(w)] = true
	}
	return m
}
