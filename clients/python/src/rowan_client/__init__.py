"""Client of Rowan, a machine-learning data service."""

from .connection import Connection, RowanError, connect

__all__ = ["Connection", "RowanError", "connect"]
