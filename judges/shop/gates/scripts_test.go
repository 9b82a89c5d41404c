package gates_test

import (
	"strings"
	"testing"
)

// TestScriptsThatAreRead holds which scripts docs/judges.md names as read by the gates, and which as not
// read: the same remark, and the same choice of the cheaper of two products, in each.
func TestScriptsThatAreRead(t *testing.T) {
	t.Parallel()
	products := readGoods(t, "testdata/world.txt")
	graded := func(thought string) float64 {
		b := newBuilder(t, products, strings.Fields("case 0.9 scripts any"))
		for _, line := range []string{"request kettle", "think …", "find kettles", "think " + thought, "pick 9043317265"} {
			b.line(line)
		}
		return score(b.done())
	}
	for script, c := range map[string]struct {
		isRead         bool
		remark, choice string
	}{
		"Latin":      {true, "None of the results is good, all are too expensive.", "I prefer 9043317265 to 6120458837 because it is cheaper."},
		"Cyrillic":   {true, "Ни один из результатов не подходит, все слишком дорогие.", "Я предпочитаю 9043317265, а не 6120458837, потому что он дешевле."},
		"Arabic":     {true, "لا شيء من النتائج مناسب، كلها باهظة الثمن.", "أفضل 9043317265 على 6120458837 لأنه أرخص."},
		"Thai":       {true, "ผลลัพธ์ทั้งหมดแพงเกินไป ไม่มีอันไหนเหมาะ", "ฉันเลือก 9043317265 แทน 6120458837 เพราะถูกกว่า"},
		"Han":        {true, "结果里没有合适的，都太贵了。", "我选9043317265而不选6120458837，因为它更便宜。"},
		"Kana":       {true, "どの結果も合わない、すべて高すぎる。", "9043317265 の方が 6120458837 より安いので、9043317265 を選ぶ。"},
		"Hangul":     {true, "결과 중에 맞는 것이 없고 모두 너무 비싸다.", "9043317265이 6120458837보다 저렴하므로 9043317265을 선택한다."},
		"Greek":      {false, "Κανένα από τα αποτελέσματα δεν ταιριάζει, όλα είναι πολύ ακριβά.", "Προτιμώ το 9043317265 από το 6120458837 επειδή είναι φθηνότερο."},
		"Hebrew":     {false, "אף אחת מהתוצאות לא מתאימה, כולן יקרות מדי.", "אני מעדיף את 9043317265 על פני 6120458837 כי הוא זול יותר."},
		"Devanagari": {false, "कोई भी परिणाम सही नहीं है, सब बहुत महंगे हैं।", "मैं 6120458837 के बजाय 9043317265 चुनता हूँ क्योंकि वह सस्ता है।"},
		"Bengali":    {false, "কোনো ফলাফলই ঠিক নয়, সবগুলো খুব দামি।", "আমি 6120458837-এর বদলে 9043317265 নেব কারণ এটি সস্তা।"},
		"Tamil":      {false, "எந்த முடிவும் சரியில்லை, எல்லாம் மிக விலை அதிகம்.", "6120458837-ஐ விட 9043317265 மலிவானது, அதனால் அதை தேர்ந்தெடுக்கிறேன்."},
	} {
		if got := graded(c.remark) >= 0.5; got != c.isRead {
			t.Errorf("%s: a remark is read: %t", script, got)
		}
		if got := graded(c.choice) == 0.9; got != c.isRead {
			t.Errorf("%s: a choice is read: %t (%v)", script, got, graded(c.choice))
		}
	}
}

// TestTheDearerIsNotCheaper holds that a choice of the dearer product as the cheaper one is refused in each
// script that is read.
func TestTheDearerIsNotCheaper(t *testing.T) {
	t.Parallel()
	products := readGoods(t, "testdata/world.txt")
	for _, thought := range []string{
		"I prefer 6120458837 to 9043317265 because it is cheaper.", "Je prends 6120458837, moins cher que 9043317265.",
		"6120458837 is the cheaper of the two: 1289.5 against 1190 for 9043317265. So 6120458837.",
		"Я предпочитаю 6120458837, а не 9043317265, потому что он дешевле.", "6120458837 дешевле, чем 9043317265, поэтому беру 6120458837.",
		"أفضل 6120458837 على 9043317265 لأنه أرخص.", "ฉันเลือก 6120458837 แทน 9043317265 เพราะถูกกว่า",
		"我选6120458837而不选9043317265，因为它更便宜。", "6120458837 比 9043317265 便宜，所以选 6120458837。",
		"6120458837 の方が 9043317265 より安いので、6120458837 を選ぶ。", "9043317265 より 6120458837 の方が安い。6120458837 にする。",
		"6120458837이 9043317265보다 저렴하므로 6120458837을 선택한다.", "6120458837은 9043317265에 비해 더 저렴해서 6120458837을 고른다.",
	} {
		b := newBuilder(t, products, strings.Fields("case 0.7 scripts any"))
		for _, line := range []string{"request kettle", "think …", "find kettles", "think " + thought, "pick 6120458837"} {
			b.line(line)
		}
		if got := score(b.done()); got != 0.7 {
			t.Errorf("%v for %s", got, thought)
		}
	}
}
