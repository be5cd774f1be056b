"""Learners with few basis centers: NPD, OROLS, OLS, KRLS, kernel logistic regression, one-vs-one machines."""
