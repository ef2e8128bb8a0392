"""Lists what the place shows of a home: folders and files of tools, packages and caches."""

from __future__ import annotations

# By folder below a home, what is shown in it. A cache that is not named here is made anew in the
# place, and lost. What else a folder of settings may hold a password in is left out.
SHOWN = {folder: frozenset(names.split()) for folder, names in {
    "": """
.EasyOCR .arduino15 .asdf .bazel .bun .bundle .cabal .cargo .ccache .choosenim .clang-format
.clang-tidy .clojure .cocoapods .composer .conan .conan2 .cpan .cpanm .default-python-packages
.deno .dotnet .dub .editorconfig .elan .emscripten_cache .espressif .esy .flake8 .fnm .fonts
.foundry .fvm .gem .ghc .ghcup .gitattributes .gitignore .gitignore_global .gitlibs .gobrew
.goenv .gradle .guix-profile .gvm .hex .insightface .ivy2 .jabba .jbang .jenv .keras .kiex .konan
.lein .linuxbrew .luarocks .m2 .mise.toml .mix .nimble .nix-defexpr .nix-profile .node-gyp
.node-version .nodebrew .nodenv .npm .npm-global .npm-packages .nuget .nvm .nvmrc .opam
.paddleocr .pdbrc .perlbrew .phpbrew .phpenv .pixi .platformio .plenv .pnpm-store .prettierrc
.proto .pub-cache .pyenv .pylintrc .python-version .rbenv .rspec .ruby-version .rustfmt.toml
.rustup .rvm .rye .sbt .sccache .sdkman .stack .swiftenv .swiftly .swiftpm .templateengine .tenv
.terminfo .tfenv .tofuenv .tool-versions .u2net .vcpkg .virtualenvs .volta .wasmer .wasmtime
.yarn .zvm R anaconda3 emsdk flutter gensim-data mambaforge micromamba miniconda3 miniforge3 n
nltk_data perl5 scikit_learn_data sdk seaborn-data tensorflow_datasets""",
    ".local": "bin include lib lib64 libexec opt pipx",
    ".local/share": """
NuGet R asdf bun cargo composer coursier fnm fonts gem go gradle man mise nvm pdm pip pipx
planner pnpm pyenv pypoetry rbenv rtx ruby rustup sdkman stack terminfo tox uv virtualenv
virtualenvs volta yarn""",
    ".local/state": "cabal mise nix uv",
    ".config": """
asdf black ccache clangd cmake flake8 fontconfig git go matplotlib mise pylint ruff rustfmt
stylelint yarn""",
    ".cache": """
Cypress R bazel bazelisk black buf build builder bun cabal cargo ccache clangd clip composer
conan coursier crystal cypress dart-sdk deno dotslash electron electron-builder esbuild eslint
fontconfig fonts gem gensim-data ghcide go go-build golangci-lint gradle hardhat huggingface
jdtls julia kagglehub keras mathlib matplotlib mise ms-playwright mypy mypy_cache nix nltk node
node-gyp npm nuget nvm org.swift.swiftpm parcel pdm phpstan pip pip-tools pipenv pipx pixi
planner playwright pnpm pre-commit prettier prisma puppeteer pylint pypoetry pyright-python
pytest ruff rye sbt sccache selenium semgrep shards shellcheck solc staticcheck swift terraform
tfenv torch torch_extensions tox turbo typescript uv vcpkg virtualenv webdriver whisper yarn zig
zls""",
    ".config/composer": "vendor",
    ".local/share/hatch": "env pythons",
    ".conda": "environments.txt envs pkgs",
    ".julia": "artifacts compiled environments juliaup packages registries",
    ".terraform.d": "plugin-cache plugins",
    ".pulumi": "plugins",
    "Android": "Sdk",
    "development": "flutter",
    "go": "bin pkg",
}.items()}  # fmt: skip
XDG = {"XDG_CONFIG_HOME": ".config", "XDG_DATA_HOME": ".local/share", "XDG_CACHE_HOME": ".cache",
        "XDG_STATE_HOME": ".local/state"}  # fmt: skip
# Variables that name the folder of a tool, and those that name folders of projects.
_NAMES = """
ANDROID_HOME ANDROID_SDK_ROOT ASDF_DATA_DIR BUNDLE_PATH BUN_INSTALL CARGO_HOME CARGO_TARGET_DIR
CCACHE_DIR COMPOSER_HOME CONAN_HOME CONDA_PREFIX DENO_DIR DENO_INSTALL DOTNET_ROOT FLUTTER_ROOT
FNM_DIR GEM_HOME GOCACHE GOMODCACHE GOROOT GRADLE_USER_HOME HF_HOME JAVA_HOME M2_HOME
MAMBA_ROOT_PREFIX MAVEN_HOME MISE_DATA_DIR NLTK_DATA NPM_CONFIG_CACHE NPM_CONFIG_PREFIX
NUGET_PACKAGES NVM_DIR N_PREFIX PIPX_HOME PIP_CACHE_DIR PIXI_HOME PLAYWRIGHT_BROWSERS_PATH
PNPM_HOME POETRY_CACHE_DIR POETRY_HOME PRE_COMMIT_HOME PUB_CACHE PYENV_ROOT PYTHONUSERBASE
RBENV_ROOT RUSTUP_HOME RYE_HOME SCCACHE_DIR SDKMAN_DIR SDKROOT TORCH_HOME UV_CACHE_DIR
UV_PROJECT_ENVIRONMENT UV_PYTHON_INSTALL_DIR UV_TOOL_DIR VIRTUAL_ENV VOLTA_HOME npm_config_cache
npm_config_prefix
"""
VARIABLES = tuple(_NAMES.split())
OF_PROJECTS = ("PYTHONPATH", "NODE_PATH", "LD_LIBRARY_PATH")
# Where Pythons are installed for all projects, and environments for one each.
PYTHONS = (".pyenv/versions", ".asdf/installs/python", ".local/share/mise/installs/python")
ENVIRONMENTS = (
    ".cache/pypoetry/virtualenvs", ".local/share/virtualenvs", ".virtualenvs", "miniconda3/envs",
    "anaconda3/envs", "miniforge3/envs", "mambaforge/envs", "micromamba/envs", ".conda/envs",
    ".local/pipx/venvs", ".local/share/pipx/venvs", ".local/share/uv/tools",
)  # fmt: skip
# Folders whose links lead to toolchains and programs elsewhere.
OF_LINKS = (".local/bin", ".rustup/toolchains", ".pyenv/versions", ".rbenv/versions")
# Where homes lie besides those of Windows under WSL, and the homes of root.
TOPS, WINDOWS = ("/home", "/var/home"), "/mnt"
