"""Python API of `import asr`: the recognizer as an object, and a function for every command."""
