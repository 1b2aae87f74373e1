"""The inventory: which models there are, here and at providers, what is known of each and since when; and the probe
that names the layer that fails.

Facts with their day, filters with their evidence. Speaking to servers is ``workbench.servers``'s, prices are
``workbench.money``'s.
"""

from workbench.inventory.inventory import Inventory

__all__ = ["Inventory"]
