"""speechocean762 (subset): sentences read by Mandarin speakers of English, 16 kHz, from audio."""
