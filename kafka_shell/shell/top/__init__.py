"""The screen of `top`: its state, what is drawn, its keys, and the loop that measures."""
