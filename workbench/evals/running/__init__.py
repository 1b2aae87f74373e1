"""A dataset through one configuration: the loop, one case of each layer, its marks, the stage that lost it."""
