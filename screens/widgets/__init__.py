"""Small widgets that several screens share: tables, texts with a lit span, the top line and the bar of keys.

They draw what they are given and post what the person did; they never hold a desk.
"""
