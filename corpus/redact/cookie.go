package redact

import "unicode/utf8"

// cookies are the values of cookie headers: pairs of a name and a value of
// which one has 16 characters or more. Headers have no bound, and one may hold
// the word at every place, so that each pair is walked once.
func cookies(text string, found []hit) []span {
	j := jar{text: text, names: stretch{set: &cookieName}, values: stretch{set: &cookieValue}, known: map[int]pairs{}}
	var out []span
	last := -1
	for _, h := range found {
		at, ok := assigned(text, h.end)
		if !ok {
			continue
		}
		// What ends where the one before does is a part of it.
		if p := j.pairs(at); p.end != last && p.long {
			out = append(out, span{at, p.end})
			last = p.end
		}
	}
	return out
}

var (
	cookieName  = all().without(" \t\n\r\f=;,\"'<>")
	cookieValue = all().without(" \t\n\r\f;\"'<>")
)

// assigned is where the value begins that is assigned to a name that ends at a
// place.
func assigned(text string, at int) (int, bool) {
	at = blanks(text, quote(text, at))
	if at == len(text) || text[at] != ':' && text[at] != '=' {
		return 0, false
	}
	return quote(text, blanks(text, at+1)), true
}

func quote(text string, at int) int {
	if at < len(text) && (text[at] == '"' || text[at] == '\'') {
		at++
	}
	return at
}

// blanks goes over three at most.
func blanks(text string, at int) int {
	for end := min(at+3, len(text)); at < end && blank.has(text[at]); {
		at++
	}
	return at
}

// jar follows the pairs of cookie headers.
type jar struct {
	text          string
	names, values stretch
	// known are the pairs from each place that was walked to.
	known map[int]pairs
}

// pairs are what stands from a place on: where the last value ends, -1 where
// there is no pair, and whether one of the values is long enough for a secret.
type pairs struct {
	end  int
	long bool
}

// longCookie is in characters.
const longCookie = 16

func (j *jar) pairs(at int) pairs {
	rest, seen := pairs{end: -1}, false
	var starts []int
	var walked []pairs
	for at >= 0 {
		if rest, seen = j.known[at]; seen {
			break
		}
		var p pairs
		p, rest = j.pair(at), pairs{end: -1}
		starts, walked = append(starts, at), append(walked, p)
		at = j.next(p.end)
	}
	for i := len(walked) - 1; i >= 0; i-- {
		if rest.end >= 0 && walked[i].end >= 0 {
			walked[i] = pairs{rest.end, rest.long || walked[i].long}
		}
		rest = walked[i]
		j.known[starts[i]] = rest
	}
	return rest
}

func (j *jar) pair(at int) pairs {
	sign := j.names.end(j.text, at)
	if sign == at || sign == len(j.text) || j.text[sign] != '=' {
		return pairs{end: -1}
	}
	end := j.values.end(j.text, sign+1)
	value := j.text[sign+1 : min(end, sign+1+longCookie*utf8.UTFMax)]
	return pairs{end, utf8.RuneCountInString(value) >= longCookie}
}

// next is where the pair behind one that ends at a place would begin, -1 where
// none can.
func (j *jar) next(end int) int {
	if end < 0 || end == len(j.text) || j.text[end] != ';' {
		return -1
	}
	if end++; end < len(j.text) && blank.has(j.text[end]) {
		end++
	}
	return end
}

// stretch remembers the last run of bytes of a set that was walked over.
type stretch struct {
	set      *charset
	from, to int
}

// end is where the run at a place ends.
func (s *stretch) end(text string, at int) int {
	if at < s.from || at > s.to || s.to == 0 {
		s.from, s.to = at, at
		for s.to < len(text) && s.set.has(text[s.to]) {
			s.to++
		}
	}
	return s.to
}
