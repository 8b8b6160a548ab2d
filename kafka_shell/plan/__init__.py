"""Changes as values: plans, their execution, their results, and the commands that undo them."""
