"""Says what a failed command may have looked for in vain, and the setting that shows it.

Of a home the place shows the project, toolchains, caches, what the environment leads to, and what
`[place] show` in the user's own config.toml names.
"""

from __future__ import annotations

import os

from shared import bounded_toml, resources
from shared.known_secrets import is_secret_name
from shared.paths import followed, lies_in
from shared.place.leads import whole

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from collections.abc import Iterable

    from shared.place.values import Place

_FORM = 'show = ["~/lib", "/home/me/data"]'
# What may be a path in a command or in what it printed.
_WORD = r"""(?:\$\{HOME\})?[^\s"'`<>|;&,=()\[\]{}*?]+"""
_HOME = r"^(?:\$HOME|\$\{HOME\}|~)(?=/|$)"
_MOST_LOOKED_AT = 500  # of each text


def shown_by_user(home: str) -> list[str]:
    """Return the paths of `[place] show` in the user's settings; Refused if they are wrong."""
    from state.errors import Refused  # not at the top: mostly nothing is wrong

    path = resources.user_config_path()
    try:
        table = bounded_toml.read_table(path, "place")
    except ValueError as error:
        raise Refused("invalid", path, str(error), "correct your own settings") from None
    for key in table:
        if key != "show":
            raise Refused("invalid", f"{path} [place].{key}", "there is no such key", "show")
    values = table.get("show", [])
    right = isinstance(values, list) and all(isinstance(v, str) for v in values)
    named = [os.path.normpath(os.path.expanduser(v)) for v in values] if right else [""]
    if not all(map(os.path.isabs, named)):
        text = "is not a list of absolute paths, or of paths in the home folder"
        raise Refused("invalid", f"{path} [place].show", text, _FORM)
    if any(lies_in(home, (followed(one),)) for one in named):
        text = "names the whole home, so that what lies there would be hidden by its name alone"
        raise Refused("invalid", f"{path} [place].show", text, _FORM)
    return named


def note(place: Place, texts: Iterable[str]) -> str:
    """Return a line about paths in a command and its output that exist but are not shown, or ""."""
    paths = _unseen(place, texts)
    more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
    for path in paths:
        if not lies_in(path, place.hidden) and not is_secret_name(os.path.basename(path)):
            if top := _own_folder(place, path):
                return (
                    f"not shown: {path}{more}, since a command has a {top} of its own: keep it in"
                    " another folder, such as one beside the project"
                )
            own = lies_in(path, (place.home,))
            shown = _short(place, (own and whole(path, place.home, place.repository)) or path)
            return (
                f"not shown: {_short(place, path)}{more}, since of a home only the project, tools"
                " and what the project leads to are; the user can show it by"
                f' [place] show = ["{shown}"] in {resources.user_config_path()}'
            )
    return f"not shown: {_short(place, paths[0])}{more}, which may hold a secret" if paths else ""


def _unseen(place: Place, texts: Iterable[str]) -> list[str]:
    import re  # not at the top: most commands do not fail

    found = dict[str, None]()
    for word in (w for text in texts for w in re.findall(_WORD, text)[:_MOST_LOOKED_AT]):
        plain = re.sub(_HOME, lambda _: place.home, word).rstrip(".:!")
        path = os.path.normpath(os.path.join(place.folder, plain))
        if os.path.lexists(path):
            # A link of the project may lead there.
            there = (path, followed(path))
            found.update(dict.fromkeys(one for one in there if _is_unseen(place, one)))
    return list(found)


def _own_folder(place: Place, path: str) -> str:
    """Return which folder for temporary files a path lies in, if it lies in no home, else ""."""
    from shared.place.system import PRIVATE  # not at the top: most commands do not fail

    tops = () if lies_in(path, place.emptied) else PRIVATE
    return next((top for top in tops if lies_in(path, (top,)) and path != top), "")


def _is_unseen(place: Place, path: str) -> bool:
    of_home = lies_in(path, place.emptied) and path not in place.emptied
    of_own = not lies_in(path, place.hidden) and _own_folder(place, path)
    if not (of_home or of_own) or path in place.links:
        return False
    shown = (
        place.repository, *place.tools, *place.shown, *place.kept, *place.copied, *place.protected,
    )  # fmt: skip
    holds = any(lies_in(one, (path,)) for one in shown)
    return not holds and not lies_in(path, shown)


def _short(place: Place, path: str) -> str:
    return f"~{path.removeprefix(place.home)}" if lies_in(path, (place.home,)) else path
