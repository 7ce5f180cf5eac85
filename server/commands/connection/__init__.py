"""The commands of a connection: authentication, protocol, transactions, CLIENT."""
