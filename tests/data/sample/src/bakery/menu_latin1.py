def résumé():
    return "café au lait"
