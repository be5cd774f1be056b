"""What `import asr` offers: the recognizer as a Python object, and a function for every command."""
