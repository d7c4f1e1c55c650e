"""Order among candidates: pure functions over rankings."""
