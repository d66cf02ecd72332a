"""From a foreign skill to a folder that can be trained: what of it our own skills know, and what a model proposes.

definition -> assessed -> families chosen by cues -> a folder of texts -> proven by drawing real goals of it
                                    `-> a teacher's topics -> its questions -> screened -> solved by itself twice
"""
