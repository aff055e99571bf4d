"""The ledger: what is taken of each line and stock, and how many machines each tenant has in each IDC."""
