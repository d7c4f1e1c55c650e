"""Cases mined from a repository: from its git history, and from its documentation."""

from dowse.eval.mine.documentation import build_from_docs
from dowse.eval.mine.git_cases import build_from_git

__all__ = ["build_from_docs", "build_from_git"]
