"""The stages of a training, one file each, and the pipeline that runs them in order."""
