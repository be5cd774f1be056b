"""Forward selection of basis centers with interchangeable states, rules and updates."""
