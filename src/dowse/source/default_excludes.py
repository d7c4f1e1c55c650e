"""Default excludes: names of files and folders that the walker skips without opening them."""

from __future__ import annotations

# The storage of version control systems: nobody searches there, so not even .dowseignore brings it back.
VERSION_CONTROL = frozenset({".git", ".hg", ".svn", ".bzr", ".jj", ".sl", "_darcs", "CVS"})

# Folders that tools create: downloaded dependencies, caches, build products. Their names are unambiguous;
# build/, dist/ and target/ are not (people keep sources there) and are left to .gitignore.
# `!name/` in .dowseignore brings one back.
TOOL_DIRECTORIES = frozenset(
    """
    node_modules bower_components jspm_packages .yarn .pnpm-store .npm
    __pycache__ site-packages .venv .tox .nox .eggs .mypy_cache .pytest_cache .ruff_cache .pytype .pyre
    .hypothesis .ipynb_checkpoints
    .gradle .m2 .bundle .dart_tool .pub-cache .stack-work .cabal-sandbox dist-newstyle elm-stuff .cargo-cache
    .zig-cache zig-cache .elixir_ls .bloop .metals .build-cache
    .next .nuxt .svelte-kit .parcel-cache .turbo .angular .docusaurus .sass-cache .nyc_output .serverless
    .terraform .vagrant .direnv .cache .idea .vs .history
    """.split()
)

# Files that mark the folder they are in (PEP 405; https://bford.info/cachedir/).
MARKER_FILES = {"pyvenv.cfg": "virtual environment", "CACHEDIR.TAG": "cache folder"}

# Written by package managers: long, repetitive, and they would match every query that names a dependency.
LOCK_FILES = frozenset(
    """
    package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml bun.lock bun.lockb deno.lock .pnp.cjs
    .pnp.loader.mjs Cargo.lock poetry.lock Pipfile.lock pdm.lock uv.lock pylock.toml pixi.lock conda-lock.yml
    go.sum go.work.sum Gemfile.lock gems.locked composer.lock mix.lock rebar.lock pubspec.lock Podfile.lock
    Package.resolved Cartfile.resolved packages.lock.json project.assets.json paket.lock gradle.lockfile
    buildscript-gradle.lockfile flake.lock shard.lock stack.yaml.lock cabal.project.freeze
    .terraform.lock.hcl MODULE.bazel.lock Chart.lock conan.lock vcpkg-lock.json
    """.split()
)

# Made from sources that are usually next to them.
MINIFIED_SUFFIXES = (".min.js", ".min.mjs", ".min.cjs", ".min.css", "-min.js", "-min.css", ".map")

# Formats without text, or (SVG) without hand-written text; skipping them by name saves reading them. Key
# stores are in `dowse.source.secrets`. Extensions that are also some language's (.res, .sig, .mo, .exp …) are
# left to `dowse.source.content`.
BINARY_EXTENSIONS = frozenset(
    """
    png jpg jpeg gif bmp ico icns webp avif heic tif tiff psd ai eps xcf svg svgz dds tga exr
    mp3 mp4 m4a m4v wav flac ogg oga ogv opus webm avi mov mkv wmv flv aac mid midi
    ttf otf woff woff2 eot pfb
    zip gz tgz bz2 tbz xz txz lz4 lzma zst 7z rar tar jar war ear aar apk ipa deb rpm dmg iso img whl egg gem
    crate nupkg vsix xpi msi
    exe dll so dylib a o obj lib pdb ilk bin class pyc pyo pyd beam wasm rlib rmeta dex
    pdf doc docx xls xlsx ppt pptx odt ods odp epub mobi djvu
    db sqlite sqlite3 db3 mdb parquet arrow feather orc avro rdb
    npy npz pkl pickle pt pth onnx h5 hdf5 safetensors gguf ckpt tflite pb joblib scip
    crt cer der
    blend fbx glb stl 3ds unitypackage uasset swf fla gmo nib snk
    """.split()
)

# Created by operating systems.
SYSTEM_FILES = frozenset({".DS_Store", "Thumbs.db", "desktop.ini"})

# Swap and backup files of editors: Vim, Emacs, JetBrains, GNOME, Kate.
_BACKUP_PREFIXES = (".#", ".goutputstream-")
_BACKUP_SUFFIXES = ("~", ".kate-swp", "___jb_tmp___", "___jb_old___")
_VIM_SWAP = (".swp", ".swo", ".swx")


def skipped_file_reason(name: str, extension: str) -> str:
    """Return why a file is skipped for its name (and its extension, in lower case), or ""."""
    if name in LOCK_FILES:
        return "lock file"
    if name.endswith(MINIFIED_SUFFIXES):
        return "minified or source map"
    if extension in BINARY_EXTENSIONS:
        # "bin" and "lib" are also the whole names of scripts: only what follows a dot is an extension.
        return "binary by name" if len(extension) < len(name) else ""
    if _is_editor_backup(name):
        return "editor's copy"
    return "system file" if name in SYSTEM_FILES else ""


def _is_editor_backup(name: str) -> bool:
    return (
        name.endswith(_BACKUP_SUFFIXES)
        or name.startswith(_BACKUP_PREFIXES)
        or (name[0] == "#" and name[-1] == "#")
        or (name[0] == "." and name.endswith(_VIM_SWAP))
    )


def skipped_directory_reason(name: str) -> str:
    """Return why a folder is skipped for its name, or ""."""
    if name in TOOL_DIRECTORIES:
        return "tool folder"
    return "package metadata" if name.endswith((".egg-info", ".dist-info")) else ""
