"""From two classes to many: one against the rest, or one against one."""
