"""What each command does, without its command line."""
