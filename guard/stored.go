package guard

// The words below are hashed or compared in stored banks. They remain as the first version wrote
// them, since other words would change the hashes of banks that users have.
const (
	// storedItems opens the hash of an entry's item ids.
	storedItems = "products"
	// storedItem precedes an item id among the strings that join the clusters of a bank.
	storedItem = "product "
)
