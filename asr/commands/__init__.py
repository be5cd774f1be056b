"""Implementations of the commands, without their command lines."""
