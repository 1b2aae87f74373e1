"""Model servers over HTTP: finding them, speaking their dialects, and using one in place of the engine.

HTTP lives here and nowhere else. A server's dialect turns its replies into the workbench's own records; what asks,
measures and judges sees a ``Generator`` or an ``Embedder`` and needn't know. Only the loopback is looked at unless a
person gives an address, and no key is ever stored: endpoints name the environment variable that holds it.
"""

from workbench.servers.servers import Servers

__all__ = ["Servers"]
