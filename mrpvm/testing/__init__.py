"""What plugins of other packages are tested with: ports in memory and the conformance suite.

from mrpvm.testing import check_plugin
def test_my_plugin(): check_plugin(MyPlugin())
"""

from mrpvm.testing.conformance import check_plugin
from mrpvm.testing.ports import InMemoryKnowledge, NoModel, ScriptedModel, call_context, unit
from mrpvm.testing.wrappers import check_wrapper

__all__ = ["InMemoryKnowledge", "NoModel", "ScriptedModel", "call_context", "check_plugin", "check_wrapper", "unit"]
