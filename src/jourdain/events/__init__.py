"""Events and their outcomes: which constraints change, what the motion is afterwards, what it cost."""
