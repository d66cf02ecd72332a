"""What can be run: skill folders, the registry, releases, their contract, trust and calibration."""
