"""What administrators and clients share of dynamic client configs (KIP-649).

The records of the two topics, the keys that can be set, and which value holds.
"""
