package disguise

import "strings"

// alikes are, after each Latin letter, those of other scripts and of phonetic
// writing that are drawn like it (Unicode TR 39 calls them confusable), as far as
// fonts of today have them. Letters with strokes and hooks count as theirs.
const alikes = `
aаɑαᴀаӑаꭺаαɐⱥ bЬɓƀᏏʙвƅƃ cсϲᴄⅽсꮯҫȼƈ dԁɗđᴅꭰⅾꓓ eеҽɛᴇɇєеҿꭼ fƒꜰғϝẝꞙ gɡɢցԍɠǥ hһհħʜнһԋꮋɦ iіıɩɪιӏїɨӀⅰꭵ jјʝϳᴊɉ kкκᴋĸҝкƙⱪ
lӏɭʟⅼꓡłƚɫ mмᴍⅿⅯꮇɱ nпոռɴηɲƞпṇ oоοօσᴏօөⲟჿøɔо pрρᴘþϱƿꮲⲣ qԛգʠɋզ rгʀɾꭇᴦꮁꭱɼɽ sѕꜱʂꮪƽ tтτᴛŧтꭲƭț uսυᴜʋцʉ vνѵᴠⅴטν wԝѡաᴡɯωшⱳ xхχⅹхҳӽ yуүγʏყуƴɏч zʐᴢȥƶꮓʑʒ
AАΑᎪꓮ BВΒᏴꓐ CСϹᏟꓚⅭ DᎠꓓⅮ EЕΕᎬꓰ FϜꓝ GԌᏀꓖ HНΗᎻꓧ IІΙӀꓲ JЈᎫꓙ KКΚᏦꓗ LᏞꓡⅬŁ MМΜᎷꓟ NΝꓠ OОΟՕꓳØ PРΡᏢꓑ QԚ RᎡꓣ SЅՏᏚꓢ TТΤᎢꓔ UՍꓴ VѴᏙꓦ WԜᎳꓪ XХΧꓫ YҮΥꓬ ZΖᏃꓜ`

var latinOf = func() map[rune]rune {
	of := map[rune]rune{}
	for group := range strings.FieldsSeq(alikes) {
		letters := []rune(group)
		for _, r := range letters[1:] {
			of[r] = letters[0]
		}
	}
	return of
}()

// toLatin is the Latin letter that r is drawn like, r itself where there is none.
func toLatin(r rune) rune {
	if l, is := latinOf[r]; is {
		return l
	}
	return r
}
