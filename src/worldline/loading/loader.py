"""Load a system from where the user says it is: the zoo, a file, or a package.

`load` is the only entry. Any mistake in the target, in the user's module
or in the parameters ends as one `UsageError` that names the user's own line.
"""

from __future__ import annotations

import ast
import hashlib
import importlib
import importlib.util
import inspect
import sys
import sysconfig
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, final

from worldline.loading import builtin
from worldline.loading.files import PRIVATE, execute, importable, source_of, staying
from worldline.loading.mistaken import kind_of, refuse_misnamed, refuse_program
from worldline.loading.parameters import bind
from worldline.model.errors import InputError, UsageError, WorldlineError
from worldline.model.programs import is_program_text
from worldline.model.properties import Property
from worldline.model.system import System, SystemOrigin
from worldline.model.usercode.interrupts import is_interrupt
from worldline.model.usercode.user_errors import failed, refusal, shorten

_FUNCTION = "system"
_OURS = Path(__file__).resolve().parent.parent
_FORMS = "TARGET is zoo:NAME, FILE.py[:function] or package.module:function"


@final
@dataclass(frozen=True, slots=True)
class Loaded:
    """A function that makes a system, and where it was found.

    Attributes
    ----------
    function
        What returns the system.
    name
        How messages call it: the target with the function's name.
    source
        A hash of the source text of its module.
    folder
        Where the module's own imports are found; None if they are installed.
    """

    function: Callable[..., Any]
    name: str
    source: str
    folder: Path | None


def load(target: str, parameters: Mapping[str, str]) -> System:
    """Return the system that a target names, with its `SystemOrigin` set.

    Parameters
    ----------
    target
        ``zoo:NAME``, ``FILE.py[:function]`` or ``package.module:function``; the
        function of a file is ``system`` unless said otherwise.
    parameters
        Arguments of the function as text; see `parameters.bind`.

    Raises
    ------
    UsageError
        If there is no such target, a parameter does not fit, or the function refuses
        its arguments.
    InputError
        If the module cannot be loaded, or its function fails or returns no system.

    Notes
    -----
    A file is executed anew at every call, under a module name that depends on its
    file name alone, so that nothing depends on the folder it lies in.
    """
    with staying():
        loaded = find(target)
        arguments = bind(loaded.function, parameters)
        with importable(loaded.folder):
            system = _call(loaded, arguments)
    system.origin = SystemOrigin(
        target, tuple(sorted(parameters.items())), loaded.source
    )
    return system


def find(target: str) -> Loaded:
    """Return the function that a target names, without calling it.

    Raises
    ------
    UsageError
        If there is no such target.
    InputError
        If its module cannot be loaded.
    """
    if target.startswith(builtin.PREFIX):
        return _find_in_zoo(target)
    place, colon, function = target.rpartition(":")
    if target.endswith(".py"):
        return _find_in_file(target, _FUNCTION)
    if colon and place.endswith(".py"):
        return _find_in_file(place, function)
    if colon and all(part.isidentifier() for part in place.split(".")):
        return _find_in_package(place, function)
    refuse_program(target)
    raise UsageError(kind_of(target), remedy=_hint(target))


def same_target(one: str, other: str) -> bool:
    """Say whether two targets name the same function, wherever a file may lie.

    A file is also the module that it is imported as.
    """
    (place, function), (second, name) = _spelt_out(one), _spelt_out(other)
    if place.endswith(".py") != second.endswith(".py"):
        place, second = _module_name(place), _module_name(second)
    return (place, function) == (second, name)


def _module_name(place: str) -> str:
    return place.removesuffix(".py").rpartition(".")[2]


def _spelt_out(target: str) -> tuple[str, str]:
    if target.startswith(builtin.PREFIX):
        return target, _FUNCTION
    place, _, function = target.rpartition(":")
    if target.endswith(".py"):
        place, function = target, _FUNCTION
    return (Path(place).name if place.endswith(".py") else place), function


def origin_of(
    function: Callable[..., Any], parameters: Mapping[str, str]
) -> SystemOrigin | None:
    """Return from where a function can be loaded again; None if from nowhere.

    That is so of lambdas, methods, functions within functions, and all that was
    typed in: nothing in a module has their name.
    """
    module = sys.modules.get(getattr(function, "__module__", None) or "")
    name = getattr(function, "__name__", "")
    if module is None or getattr(module, name, None) is not function:
        return None
    path = Path(getattr(module, "__file__", None) or "")
    if path.suffix != ".py" or not path.is_file():
        return None
    given = tuple(sorted(parameters.items()))
    return SystemOrigin(_target_of(module, path.resolve(), name), given, _hash(module))


def _target_of(module: ModuleType, path: Path, function: str) -> str:
    """Return the target that names a function of a module, in the present folder."""
    spec = module.__spec__
    name = module.__name__ if spec is None else spec.name  # of python -m, too
    folder, _, last = name.rpartition(".")
    if function == _FUNCTION and folder == builtin.package():
        return f"{builtin.PREFIX}{last.replace('_', '-')}"
    here = Path.cwd().resolve()
    places = (here / f"{name}.py", here / name / "__init__.py")
    if "." in name or path in places or "site-packages" in path.parts:
        return f"{name}:{function}"
    shown = path.relative_to(here) if path.is_relative_to(here) else path
    return f"{shown}:{function}"


def is_function(text: str) -> bool:
    """Say whether a text names a function: ``FILE.py:name`` or ``module:name``."""
    place, colon, function = text.rpartition(":")
    parts = [function] if place.endswith(".py") else [function, *place.split(".")]
    return bool(colon) and all(part.isidentifier() for part in parts)


def function_for(system: System, target: str) -> Callable[..., Any]:
    """Return a user's function over states of a system.

    The file that the system comes from is not executed again: its classes would be
    others than those of the system.

    Raises
    ------
    UsageError
        If there is no such function.
    InputError
        If its module cannot be loaded.
    """
    place, _, function = target.rpartition(":")
    module = sys.modules.get(PRIVATE + Path(place).stem)
    file = None if module is None else module.__file__
    own = system.origin is not None and place.endswith(".py")
    if own and module is not None and file == str(Path(place).resolve()):
        return _function(module, function, place)
    with staying():
        return find(target).function


def _hint(target: str) -> str:
    if target in builtin.names():
        return f"did you mean {builtin.PREFIX}{target}? {_FORMS}"
    if Path(f"{target}.py").is_file():
        return f"did you mean {target}.py? {_FORMS}"
    return _FORMS


# ------------------------------------------------------------------------- the zoo


def _find_in_zoo(target: str) -> Loaded:
    name = target.removeprefix(builtin.PREFIX)
    if name not in builtin.names():
        refuse_program(target)
        raise UsageError(
            f"the zoo has no system {name!r}",
            remedy=f"it has {', '.join(builtin.names())}",
        )
    module = builtin.module_of(name)
    return Loaded(_function(module, _FUNCTION, target), target, _hash(module), None)


# --------------------------------------------------------------------- user modules


def _find_in_file(place: str, function: str) -> Loaded:
    path = Path(place)
    source = source_of(path, _FORMS)
    if is_program_text(source) and not _is_python(source):
        refuse_misnamed(place)
    folder = path.resolve().parent
    with importable(folder):
        module = execute(path, source, _FORMS)
    made = _function(module, function, place)
    return Loaded(made, f"{place}:{function}", _digest([source]), folder)


def _is_python(source: bytes) -> bool:
    try:
        ast.parse(source)
    except (SyntaxError, ValueError):
        return False
    return True


def _find_in_package(place: str, function: str) -> Loaded:
    folder = Path.cwd()
    with importable(folder):
        try:
            module = importlib.import_module(place)
        except ModuleNotFoundError as error:
            if error.name is None or not f"{place}.".startswith(f"{error.name}."):
                raise failed(place, error, "importing it raised") from error
            raise UsageError(
                f"there is no module {error.name!r}",
                remedy=f"install it, or run in the folder that holds it; {_FORMS}",
            ) from None
        except BaseException as error:
            if is_interrupt(error):
                raise
            raise failed(place, error, "importing it raised") from error
    if _is_pythons(module):
        raise UsageError(
            f"{place} is a module of Python itself, which holds no system",
            remedy=_FORMS,
        )
    made = _function(module, function, place)
    return Loaded(made, f"{place}:{function}", _hash(module), folder)


def _is_pythons(module: ModuleType) -> bool:
    """Say whether a module is of the standard library: `os.system` makes no system."""
    place = getattr(module, "__file__", None)
    if place is None:
        return module.__name__ in sys.stdlib_module_names
    home = Path(sysconfig.get_path("stdlib"))
    return home in Path(place).parents and "site-packages" not in Path(place).parts


def _function(module: ModuleType, name: str, place: str) -> Callable[..., Any]:
    made = getattr(module, name, None)
    if callable(made) and not isinstance(made, type | Property):
        return made  # type: ignore[no-any-return]
    if isinstance(made, System):
        raise UsageError(
            f"{name} of {place} is a system, not a function that makes one",
            remedy=f"write def {name}(): return wl.System(...)",
        )
    others = [
        other
        for other, value in vars(module).items()
        if inspect.isfunction(value)
        and value.__module__ == module.__name__
        and not other.startswith("_")
    ]
    raise UsageError(
        f"{place} has no function {name!r}",
        remedy="define it, or name another as TARGET:function; "
        f"there are {', '.join(others) or 'none'}",
    )


def _call(loaded: Loaded, arguments: dict[str, Any]) -> System:
    try:
        system = loaded.function(**arguments)
    except BaseException as error:
        if is_interrupt(error):
            raise
        if isinstance(error, ValueError) and not isinstance(error, WorldlineError):
            raise UsageError(f"{loaded.name}: {refusal(error)}") from error
        raise failed(loaded.name, error, "it raised") from error
    if not isinstance(system, System):
        raise InputError(
            f"{loaded.name} returned {shorten(repr(system))}",
            remedy="return a wl.System",
        )
    return system


# --------------------------------------------------------------------------- source


def _hash(module: ModuleType) -> str:
    """Hash a module's source: its file; in the zoo also what it may share.

    There a system may be a package, and may use the private modules beside it.
    """
    place = getattr(module, "__file__", None)
    files = [Path(place)] if place else []
    if module.__name__.startswith(f"{builtin.package()}."):
        for folder in getattr(module, "__path__", ()):
            files = [*Path(folder).rglob("*.py")]
        files += (_OURS / "zoo").glob("_[!_]*.py")
    return _digest([path.read_bytes() for path in sorted(files)])


def _digest(sources: list[bytes]) -> str:
    """Hash source text; how a checkout ends its lines makes no difference."""
    digest = hashlib.sha256()
    for source in sources:
        digest.update(source.replace(b"\r\n", b"\n"))
    return digest.hexdigest()[:16]
