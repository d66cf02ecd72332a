"""What can be wrong with an object.

ObjectError
├── Missing     it is not in the repository: a partial or shallow clone, or something was lost
├── Damaged     it is not what it says
└── TooLarge    it would unfold to more than is read
    └── Exhausted   so would all that is read together
"""


class ObjectError(Exception):
    """An object cannot be read."""


class Missing(ObjectError):
    """The object is not in the repository."""


class Damaged(ObjectError):
    """The object's bytes are not what they should be."""


class TooLarge(ObjectError):
    """The object is larger than the limit."""


class Exhausted(TooLarge):
    """More was unfolded than was granted."""
