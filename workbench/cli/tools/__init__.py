"""Commands about tokens, money, decisions and what models there are."""
