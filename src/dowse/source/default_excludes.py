"""Names that are never worth reading: what the walker leaves out before opening anything."""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    """The words of a text, so that long lists stay readable."""
    return frozenset(text.split())


# Version control's own storage: never text anybody searches for, so not even .dowseignore brings it back.
VERSION_CONTROL = frozenset({".git", ".hg", ".svn", ".bzr", ".jj", ".sl", "_darcs", "CVS"})

# Folders that tools fill by themselves: downloaded dependencies, caches, build products. Their names are
# unambiguous; build/, dist/ and target/ are not (people keep sources there) and are left to .gitignore.
# `!name/` in .dowseignore brings one back.
TOOL_DIRECTORIES = _words(
    """
    node_modules bower_components jspm_packages .yarn .pnpm-store .npm
    __pycache__ site-packages .venv .tox .nox .eggs .mypy_cache .pytest_cache .ruff_cache .pytype .pyre
    .hypothesis .ipynb_checkpoints
    .gradle .m2 .bundle .dart_tool .pub-cache .stack-work .cabal-sandbox dist-newstyle elm-stuff .cargo-cache
    .zig-cache zig-cache .elixir_ls .bloop .metals .build-cache
    .next .nuxt .svelte-kit .parcel-cache .turbo .angular .docusaurus .sass-cache .nyc_output .serverless
    .terraform .vagrant .direnv .cache .idea .vs .history
    """
)

# A folder holding one of these says itself what it is (PEP 405; https://bford.info/cachedir/).
MARKER_FILES = {"pyvenv.cfg": "virtual environment", "CACHEDIR.TAG": "cache folder"}

# Written by package managers: long, repetitive, and they would answer every query that names a dependency.
LOCK_FILES = _words(
    """
    package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml bun.lock bun.lockb deno.lock .pnp.cjs
    .pnp.loader.mjs Cargo.lock poetry.lock Pipfile.lock pdm.lock uv.lock pylock.toml pixi.lock conda-lock.yml
    go.sum
    go.work.sum Gemfile.lock gems.locked composer.lock mix.lock rebar.lock pubspec.lock Podfile.lock
    Package.resolved Cartfile.resolved packages.lock.json project.assets.json paket.lock gradle.lockfile
    buildscript-gradle.lockfile flake.lock shard.lock stack.yaml.lock cabal.project.freeze
    .terraform.lock.hcl MODULE.bazel.lock Chart.lock conan.lock vcpkg-lock.json
    """
)

# Made from sources that are usually next to them.
MINIFIED_SUFFIXES = (".min.js", ".min.mjs", ".min.cjs", ".min.css", "-min.js", "-min.css", ".map")

# Formats that hold no text, or (SVG) text nobody wrote; knowing them by name saves reading them. Key stores
# are in `dowse.source.secrets`. Endings
# that are also some language's (.res, .sig, .mo, .exp …) are left to the look at the content.
BINARY_EXTENSIONS = _words(
    """
    png jpg jpeg gif bmp ico icns webp avif heic tif tiff psd ai eps xcf svg svgz dds tga exr
    mp3 mp4 m4a m4v wav flac ogg oga ogv opus webm avi mov mkv wmv flv aac mid midi
    ttf otf woff woff2 eot pfb
    zip gz tgz bz2 tbz xz txz lz4 lzma zst 7z rar tar jar war ear aar apk ipa deb rpm dmg iso img whl egg gem
    crate nupkg vsix xpi msi
    exe dll so dylib a o obj lib pdb ilk bin class pyc pyo pyd beam wasm rlib rmeta dex
    pdf doc docx xls xlsx ppt pptx odt ods odp epub mobi djvu
    db sqlite sqlite3 db3 mdb parquet arrow feather orc avro rdb
    npy npz pkl pickle pt pth onnx h5 hdf5 safetensors gguf ckpt tflite pb joblib
    crt cer der
    blend fbx glb stl 3ds unitypackage uasset swf fla gmo nib snk
    """
)

# Left behind by operating systems and editors.
DEBRIS = frozenset({".DS_Store", "Thumbs.db", "desktop.ini"})

# Copies that editors keep while a file is being edited, or from before: Vim, Emacs, JetBrains, GNOME, Kate.
_COPY_BEGINNINGS = (".#", ".goutputstream-")
_COPY_ENDINGS = ("~", ".kate-swp", "___jb_tmp___", "___jb_old___")
_VIM_SWAP = (".swp", ".swo", ".swx")


def skipped_file_reason(name: str, extension: str) -> str:
    """Why a file is left out because of its name (and what ends it, in small letters), or ""."""
    if name in LOCK_FILES:
        return "lock file"
    if name.endswith(MINIFIED_SUFFIXES):
        return "minified or source map"
    if extension in BINARY_EXTENSIONS:
        # "bin" and "lib" are also the whole names of scripts: only what follows a dot is an extension.
        return "binary by name" if len(extension) < len(name) else ""
    if _is_editors_copy(name):
        return "editor's copy"
    return "system debris" if name in DEBRIS else ""


def _is_editors_copy(name: str) -> bool:
    return (
        name.endswith(_COPY_ENDINGS)
        or name.startswith(_COPY_BEGINNINGS)
        or (name[0] == "#" and name[-1] == "#")
        or (name[0] == "." and name.endswith(_VIM_SWAP))
    )


def skipped_directory_reason(name: str) -> str:
    """Why a folder is left out because of its name alone, or ""."""
    if name in TOOL_DIRECTORIES:
        return "tool folder"
    return "package metadata" if name.endswith((".egg-info", ".dist-info")) else ""
