package arena

// Lexicon has the currencies, units and synonyms of a domain, by which the guard compares requests.
type Lexicon struct {
	// Currencies are by their code, such as usd, and Units by their name.
	Currencies map[string]Currency `yaml:"currencies" json:"currencies,omitempty"`
	Units      map[string]Unit     `yaml:"units" json:"units,omitempty"`
	// Synonyms are groups of words that mean the same in the domain.
	Synonyms [][]string `yaml:"synonyms" json:"synonyms,omitempty"`
}

// Currency is a currency in which requests state amounts.
type Currency struct {
	// Rate is what one unit is worth in the currency with the rate 1. It is 0 if amounts are compared
	// as they are written.
	Rate float64 `yaml:"rate" json:"rate,omitempty"`
	// Words are words for the currency beside its code, Signs what stands directly before a number.
	Words []string `yaml:"words" json:"words,omitempty"`
	Signs []string `yaml:"signs" json:"signs,omitempty"`
}

// Unit is a unit of measure. An amount in it is compared as Factor times the unit Of.
type Unit struct {
	Of     string   `yaml:"of" json:"of"`
	Factor float64  `yaml:"factor" json:"factor"`
	Words  []string `yaml:"words" json:"words,omitempty"`
}
