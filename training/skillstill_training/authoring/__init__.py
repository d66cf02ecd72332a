"""What a skill's goals.py and baseline.py are written with."""
