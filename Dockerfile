# syntax=docker/dockerfile:1
# dowse in an image: `scripts/package && docker build -t dowse .`; see docs/PACKAGING.md.
FROM python:3.13-slim
# git: commits teach dowse where requests for a change lead, and `dowse eval` mines questions from them.
RUN apt-get update && apt-get install --yes --no-install-recommends git && rm -rf /var/lib/apt/lists/*
# Mounted, not copied: lists and wheel leave no layer of their own. First the tested versions, by their hashes.
RUN --mount=type=bind,source=requirements,target=/requirements python -m pip install --no-cache-dir --root-user-action=ignore --require-hashes -r /requirements/plain.txt
RUN --mount=type=bind,source=dist,target=/dist python -m pip install --no-cache-dir --root-user-action=ignore --no-deps /dist/*.whl
RUN useradd --uid 10001 --create-home dowse && mkdir /repository
USER 10001
# Indexes and feedback; mount a volume here to keep them.
ENV DOWSE_CACHE_DIR=/home/dowse/cache DOWSE_DATA_DIR=/home/dowse/data
WORKDIR /repository
EXPOSE 8742
ENTRYPOINT ["dowse"]
CMD ["--help"]
