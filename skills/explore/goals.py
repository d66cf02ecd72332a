"""The goal families of `explore`: questions about a code base, made from the code itself."""

from skillstill_training.authoring import Family

from .families import chain_plans, chains, choice_plans, choices, lookups, needles, offscope, plans, usage

FAMILIES = (
    Family(
        "definition", "the place (path:line) of a function, method or class, or that there is none",
        lookups.definitions, plans.definition,
    ),
    Family("signature", "all parameters of a function, by name", lookups.signatures, plans.definition),
    Family("default", "the default value of one parameter of a function", lookups.defaults, plans.default),
    Family("bases", "the base classes of a class", lookups.bases, plans.definition),
    Family("raises", "the exceptions that a function raises itself, if any", lookups.raises, plans.raises),
    Family(
        "ambiguous", "of several definitions of one name, the place of the one that {which} tells apart",
        choices.by_signature, choice_plans.by_signature, hard=True,
    ),
    Family(
        "ambiguous_body", "of several definitions of one name, the place of the one whose body is as {which} says",
        choices.by_body, choice_plans.by_body, hard=True,
    ),
    Family("callers", "every place where a function is called", usage.callers, choice_plans.callers, hard=True),
    Family("importers", "every file that imports a name", usage.importers, choice_plans.importers),
    Family("tests", "the place of a test that uses a function or class", usage.tests, choice_plans.tests, hard=True),
    Family(
        "needle", "the place of the function that does what {action} says, which does not name it",
        needles.python_needles, choice_plans.needle, hard=True,
    ),
    Family(
        "needle_other", "the place of the function, in Rust or Go, that does what {action} says",
        needles.other_needles, choice_plans.needle, hard=True,
    ),
    Family(
        "definition_other", "the place of a function or type in Rust or Go; or that there is none",
        needles.other_definitions, plans.definition,
    ),
    Family(
        "localise", "a file that has to change for what {description} says",
        needles.changes, choice_plans.change, hard=True,
    ),
    Family(
        "inherited", "the place of a method that a class has from a class above it",
        chains.inherited, chain_plans.inherited, hard=True,
    ),
    Family(
        "ancestor", "the place of the class of this code base at the top of a class's inheritance",
        chains.ancestors, chain_plans.ancestor, hard=True,
    ),
    Family(
        "default_constant", "the value behind a parameter's default, which is a named constant",
        chains.default_constants, chain_plans.named_in_definition, hard=True,
    ),
    Family(
        "used_constant", "the value of the one named constant that a function reads",
        chains.used_constants, chain_plans.named_in_body, hard=True,
    ),
    Family(
        "delegates", "the place of the one function of this code base that a short function calls",
        chains.delegates, chain_plans.named_in_body, hard=True,
    ),
    Family(
        "delegated_raises", "the exceptions of the one function of this code base that a short function calls",
        chains.delegated_raises, chain_plans.delegated_raises, hard=True,
    ),
    Family(
        "returned", "the place of the class whose instance a function returns",
        chains.returned, chain_plans.named_in_definition, hard=True,
    ),
    Family(
        "offscope", "work that looking at code cannot do (changing, running, publishing, asking people): handed back",
        offscope.offscope, choice_plans.offscope,
    ),
    Family(
        "overrides", "the methods of its direct parent that a class defines anew", chains.overrides,
        chain_plans.overrides, hard=True, held_out=True,
    ),
)  # fmt: skip
