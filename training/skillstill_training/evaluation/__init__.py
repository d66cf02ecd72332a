"""Evaluation: the arms, their runs and scores, the calibration of confidence, the gates and the verdict."""
