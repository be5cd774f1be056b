"""Forward selection of basis centres: one loop over exchangeable states, rules and updates."""
