package cursor

// Skip steps over one value of any type, checking all of it.
func (c *Cursor) Skip() {
	if c.pos >= len(c.src) {
		c.fail(Ended, "")
		return
	}
	switch b := c.src[c.pos]; b {
	case '"':
		c.skipString()
	case '{':
		c.skipObject()
	case '[':
		c.skipArray()
	case 't':
		c.word("true")
	case 'f':
		c.word("false")
	case 'n':
		c.word("null")
	default:
		c.number()
	}
}

func (c *Cursor) skipObject() {
	if !c.enter() {
		return
	}
	for more := c.first('}'); more; more = c.more('}') {
		if c.pos >= len(c.src) || c.src[c.pos] != '"' {
			c.expected('"')
			return
		}
		c.skipString()
		c.colon()
		c.Skip()
	}
	c.depth--
}

func (c *Cursor) skipArray() {
	if !c.enter() {
		return
	}
	for more := c.first(']'); more; more = c.more(']') {
		c.Skip()
	}
	c.depth--
}

func (c *Cursor) word(w string) {
	for i := range len(w) {
		if c.pos >= len(c.src) {
			c.fail(Ended, "")
			return
		}
		if c.src[c.pos] != w[i] {
			c.fail(Syntax, "no JSON value")
			return
		}
		c.pos++
	}
}
