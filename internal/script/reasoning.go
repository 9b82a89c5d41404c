package script

import (
	"hash/fnv"
	"regexp"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena/internal/asjson"
)

// Product is a product in a search result that a prompt contains.
type Product struct{ ID, Title, Price string }

// Shown is the content of a prompt of the recipe rewrite, as a model can read it.
type Shown struct {
	Request, Call, thought string
	Products               []Product
	steps                  int
	Options                []string
}

var quoted = regexp.MustCompile(`(?s)<<<\n(.*?)>>>`)

// ReadPrompt parses a prompt of the recipe rewrite.
func ReadPrompt(prompt string) (s Shown) {
	blocks := quoted.FindAllStringSubmatch(prompt, -1)
	s.Request = strings.TrimSpace(blocks[0][1])
	for i, b := range blocks[1:] {
		text := strings.TrimSpace(b[1])
		switch last := i == len(blocks)-2; {
		case strings.HasPrefix(text, "["):
			s.steps++
			for _, v := range gjson.Parse(text).ForEach {
				if v.Get("price").Exists() && v.Get("title").Exists() {
					s.Products = append(s.Products, Product{v.Get("product_id").String(), v.Get("title").String(), v.Get("price").Raw})
				}
			}
		case last && strings.HasPrefix(text, "1. "):
			s.Options = regexp.MustCompile(`(?m)^\d\. `).Split(text, -1)[1:]
		case last:
			s.Call = text
		default:
			s.thought = text
		}
	}
	return s
}

// Find returns the product with this id in the prompt, nil if there is none.
func (s *Shown) Find(id string) *Product {
	for i := range s.Products {
		if s.Products[i].ID == id {
			return &s.Products[i]
		}
	}
	return nil
}

// IDs matches product ids.
var IDs = regexp.MustCompile(`\d{6,}`)

func pick(seed string, variants ...string) string {
	h := fnv.New32a()
	h.Write([]byte(seed))
	return variants[int(h.Sum32()>>8)%len(variants)]
}

// Honest returns reasoning that leads to the call and cites what the prompt shows. It has one of
// many forms.
func (s *Shown) Honest() string {
	var parts []string
	say := func(variants ...string) {
		parts = append(parts, pick(s.Request+s.Call+strconv.Itoa(len(parts)), variants...))
	}
	named := IDs.FindAllString(s.Call, -1)
	var known []Product
	for _, id := range named {
		if p := s.Find(id); p != nil {
			known = append(known, *p)
		}
	}

	switch {
	case strings.HasPrefix(s.Call, "find_product"):
		s.saySearch(say)
		if len(s.Products) > 0 {
			head := pick(s.Call, "For now ", "", "Before, ", "Still ")
			parts = append(
				parts,
				".",
				s.weighed(head, s.Products[len(s.Products)-1], 0),
			)
		}
	case strings.HasPrefix(s.Call, "view_product") && len(known) > 0:
		say(beforeView...)
		parts = append(parts, s.weighed("", known[0], 0))
		say(viewing...)
		say(strings.Join(named, ", ") + ".")
	case strings.HasPrefix(s.Call, "recommend_product") && len(known) > 0:
		for i, p := range known {
			parts = append(parts, s.weighed("I recommend ", p, i))
		}
		if strings.Contains(s.Call, "terminate") {
			say(" After that I terminate.", " With this I can terminate.")
		}
	case strings.HasPrefix(s.Call, "terminate"):
		say(terminating...)
	default:
		say("I use " + strings.TrimSpace(s.Call))
	}
	return strings.Join(parts, " ")
}

// saySearch adds to a simulated model's reasoning the sentence that announces its search: the words
// and the options of the call. It calls say with several wordings for each part of the sentence,
// and say adds one of them.
func (s *Shown) saySearch(say func(variants ...string)) {
	args := gjson.Parse(s.Call[strings.Index(s.Call, "{") : strings.LastIndex(s.Call, "}")+1])
	say("I search for", "Search:", "The next search is", "A search with", "Now a search:")
	say("“" + args.Get("q").String() + "”")
	for _, key := range strings.Split(pick(s.Request+s.Call, optionOrders...), " ") {
		v := args.Get(key).String()
		if v == "" {
			continue
		}
		say("with ", "and ", "at ", "again ", "only ", "— ", "rather ", "since it helps, ", "")
		say(
			v,
			key+" "+v,
			v+" as "+key,
			"the "+key+" that was asked for, "+v,
			v+" because nothing else will do",
			v+" instead of any",
		)
	}
}

// Orders of the search options, and sentences of the reasoning before products are viewed and
// before the end.
var (
	optionOrders = []string{"page price shop_id", "price page shop_id", "shop_id page price", "price shop_id page", "page shop_id price"}
	beforeView   = []string{"The list brought some that could do.", "Looking closer is worth it.", "Before I decide there is more to know.", ""}
	viewing      = []string{
		"I view product information of",
		"View product information:",
		"So: view product information,",
		"Better view product information before any choice:",
		"They match so far, hence view product information:",
	}
	terminating = []string{
		"The recommendation was made and I end here with terminate.",
		"Nothing is left to do: terminate.",
		"I can terminate the task now.",
	}
)

// Parts of sentences that compare products.
var (
	connectives = strings.Split(", | and |; | while | because | though | rather than | since | instead of | compared with | as | unlike | but | over | better than | despite | among | versus ", "|")
	attributes  = strings.Split("|the cheaper |the dearer |the lighter |the better rated |the fitting |the wrong |the new |the best |the wider |my pick |the rival ", "|")
	judgements  = strings.Split("| is not it| misses a wish| would do| costs more| lacks the style| fits| is too dear| looks better| ranks below| is my favourite| meets the wish| is over the budget| has free shipping| matches| seems worse", "|")
)

// weighed returns a sentence of a simulated model's reasoning. It starts with head and compares the
// product p with others. Which facts it has, and in which order, is chosen by a hash of the prompt,
// the product and index, so that few sentences are equal.
func (s *Shown) weighed(head string, p Product, index int) string {
	n := 0
	any := func(variants ...string) string {
		n++
		return pick(s.Request+s.Call+p.ID+strconv.Itoa(n)+strconv.Itoa(index), variants...)
	}
	about := func(o Product) string {
		return any(
			o.ID,
			o.Price,
			o.Title,
			o.ID+" at "+o.Price,
			o.Price+" for "+o.ID,
			o.Title+" at "+o.Price,
			"“"+o.Title+"” ("+o.ID+")",
			o.ID+", "+o.Title+", "+o.Price,
		)
	}

	text := head + p.ID
	for range 1 + len(any("", "x", "xx")) {
		o := s.Products[(len(any("", "1", "22", "333", "4444", "55555"))+n)%len(s.Products)]
		text += any(connectives...)
		text += any(attributes...) + about(o)
		text += any(judgements...)
		if any("a", "b") == "a" {
			text += any(", ", " with ", " for ") + about(p)
		}
	}
	return text + "."
}

// Choice returns the number, counted from 1, of the option to which the thought leads: the
// option of which the thought contains the most of the tool, words and ids. If options are
// equal, the order of ids decides. It returns "0" if thought and option do not agree in all
// tools.
func (s *Shown) Choice() string {
	best := -1.0
	at := 0
	thought := strings.Join(tokens(s.thought), " ") + " "
	for i, o := range s.Options {
		var hits, all, early, exact float64
		for _, v := range values.FindAllStringSubmatch(o, -1) {
			for _, w := range tokens(v[1]) {
				all++
				if place := strings.Index(thought, w+" "); place >= 0 {
					hits++
					early += 1 / float64(1000+place)
				}
			}
		}
		if q := gjson.Get(o[strings.Index(o, "{"):], "q").String(); q != "" && strings.Contains(s.thought, "“"+q+"”") {
			exact = 1
		}
		if list := strings.ReplaceAll(gjson.Get(o[strings.Index(o, "{"):], "product_ids").String(), ",", ", "); list != "" && strings.Contains(s.thought, list+".") {
			exact = 1 + float64(len(list))/100
		}
		if score := tool(o, s.thought) + exact + hits/max(all, 1) + hits/100 + early/max(all, 1); score > best {
			best = score
			at = i
		}
	}
	if tool(s.Options[at], s.thought) < tools {
		return "0"
	}
	return strconv.Itoa(at + 1)
}

// values matches one argument, such as the price, of a tool call that is written as text. Its group
// is the argument's value.
var values = regexp.MustCompile(`"(?:q|price|shop_id|product_ids|product_id|page)": ?"?([^"}]*)`)

var tokenRule = regexp.MustCompile(`[\pL\d.-]+`)

func tokens(text string) []string { return tokenRule.FindAllString(strings.ToLower(text), -1) }

// signs maps each tool to the words in reasoning that announce a call of the tool.
var signs = map[string]string{
	"find_product": "search", "view_product_information": "view product information", "recommend_product": "i recommend", "terminate": "terminate", "calculate_voucher": "calculate_voucher",
}

// tools is the number of tools in signs, and so the highest result of the function tool. Only an
// option with this result is one to which the reasoning leads.
const tools = 5

// tool returns how well an option (a tool call as text) fits the reasoning thought: the number of
// tools in signs in which the two agree, since both mention the tool or neither does.
func tool(option, thought string) (n float64) {
	thought = strings.ToLower(thought)
	for name, sign := range signs {
		if strings.Contains(option, name+"(") == strings.Contains(thought, sign) {
			n++
		}
	}
	return n
}

// Reason returns the reply of a model to a prompt of the recipe rewrite. The model writes its
// reasoning with think and chooses the option to which the reasoning leads.
func Reason(prompt string, think func(*Shown) string) string {
	s := ReadPrompt(prompt)
	said := map[string]string{}
	if len(s.Options) > 0 {
		said["choice"] = s.Choice()
	} else {
		said["reasoning"] = think(&s)
	}
	return string(asjson.Bytes(said))
}
