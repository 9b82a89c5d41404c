package shop

import (
	"regexp"
	"strings"
)

// voucherTerms matches the sentences on budget and voucher that every voucher request of the subnet's
// suites has, with their numbers in a list ("2. "). A full stop or colon before a digit does not
// end a sentence.
var voucherTerms = regexp.MustCompile(`(?i)(?:[0-9]\. )?(?:my budget is only |the voucher (?:only )?applies to |` +
	`it is valid only when the total price of the products exceeds |it provides a (?:fixed|percentage) discount of )` +
	`(?:[^\n.:]|[.:][0-9])*[.:]?`)

// RemoveTerms returns doc without the sentences on budget and voucher that every voucher request of
// the subnet's suites has, so that only what distinguishes requests is compared.
func RemoveTerms(doc string) string {
	if !strings.Contains(doc, "voucher") {
		return doc
	}
	return voucherTerms.ReplaceAllString(doc, "")
}
