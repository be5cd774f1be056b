"""Class posteriors from classifier outputs, and measures of their calibration."""
