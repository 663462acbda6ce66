"""Annotations of fields, read by the API's schema, and by pydantic for the schema of the tools."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

type CoreSchema = dict[str, Any]


class Meaning(str):
    """What a field means, in words."""

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: Callable[[CoreSchema], CoreSchema]) -> Any:
        return {**handler(schema), "description": str(self)}


@dataclass(frozen=True, slots=True)
class OneOf:
    """Which values a text has."""

    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Between:
    """How small and how large a number may be."""

    least: float
    most: float | None = None

    def __get_pydantic_core_schema__(self, source: Any, handler: Callable[[Any], CoreSchema]) -> CoreSchema:
        return {**handler(source), "ge": self.least} | ({} if self.most is None else {"le": self.most})


@dataclass(frozen=True, slots=True)
class Length:
    """How many characters a text has, or how many items a list."""

    least: int
    most: int | None = None

    def __get_pydantic_core_schema__(self, source: Any, handler: Callable[[Any], CoreSchema]) -> CoreSchema:
        return {**handler(source), "min_length": self.least} | ({} if self.most is None else {"max_length": self.most})
