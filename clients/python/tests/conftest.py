import os

import pytest

import rowan_client


@pytest.fixture(scope="session")
def rowan():
    """A server that is there for these tests: ROWAN_URL."""
    return rowan_client.connect(os.environ["ROWAN_URL"])
