"""The place: where an assistant's commands run while a plan is made, and nothing of it lasts."""
