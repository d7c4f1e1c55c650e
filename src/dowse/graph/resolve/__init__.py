"""Reference resolution: what each reference means by the rules of its language."""
