"""The English texts in the source that can reach a person: the message ids of the translations.

A text is one if it is given to Django's `gettext`, `gettext_lazy` or `gettext_noop`, or to a parameter or field that
is annotated as a `Template` (`framework.errors`): what errors, reasons and notes say. Where a call does not hold the
text itself it is looked up: a constant, a local variable, the rows of a literal that is looped over. What can't be
followed is refused, so that nothing is left untranslated unnoticed.
"""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from .template_texts import template_texts

__all__ = ["MessageId", "UnclearMessage", "message_ids"]

ANNOTATIONS = frozenset({"Template", "Message"})
TRANSLATION = "django.utils.translation"
MARKERS = frozenset({"gettext", "gettext_lazy", "gettext_noop"})
NOT_FOLLOWED = frozenset({"ngettext", "ngettext_lazy", "pgettext", "pgettext_lazy", "npgettext", "npgettext_lazy"})
PERCENT_FIELD = re.compile(r"%\(\w+\)")

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class MessageId:
    """One text, the files that hold it, and how its fields are filled (`python-brace-format`, …)."""

    text: str
    files: tuple[str, ...]
    flags: tuple[str, ...]


class UnclearMessage(Exception):
    """Calls whose text can't be told from the source; it names file and line of each."""


@dataclass(frozen=True, slots=True)
class _Signature:
    """The parameters of something callable, and which of them are message ids."""

    names: tuple[str, ...]
    templates: frozenset[str]

    def given(self, call: ast.Call) -> Iterator[ast.expr]:
        """The arguments of a call that are message ids; what follows a starred one has no known place."""
        for name, argument in zip(self.names, call.args, strict=False):
            if isinstance(argument, ast.Starred):
                if self.templates & set(self.names[self.names.index(name) :]):
                    yield argument
                break
            if name in self.templates:
                yield argument
        yield from (keyword.value for keyword in call.keywords if keyword.arg in self.templates)


GETTEXT = _Signature(("message",), frozenset({"message"}))


@dataclass(frozen=True, slots=True)
class _Module:
    name: str
    tree: ast.Module


class _Index:
    """What the whole source declares: who takes message ids, and which attributes hold them."""

    def __init__(self, modules: Sequence[_Module]) -> None:
        self.attributes: set[str] = set()
        self._classes: dict[str, ast.ClassDef] = {}
        self._functions: dict[tuple[str, str], _Signature] = {}
        for module in modules:
            self._declare(module, module.tree, inside=False)

    def _declare(self, module: _Module, node: ast.AST, *, inside: bool) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.ClassDef):
                self._classes[child.name] = child
            elif isinstance(child, Function):
                found = _function_signature(child, bound=inside)
                if found.templates:
                    self._functions[_home(module.name, child.name), child.name] = found
            elif isinstance(child, ast.AnnAssign) and _is_template(child.annotation):
                self.attributes.add(_last_name(child.target))
            if not isinstance(child, ast.expr):  # nothing is declared inside of one
                self._declare(module, child, inside=isinstance(child, ast.ClassDef))

    def signature(self, module: str, name: str) -> _Signature | None:
        """Of the function or class that this module means by the name; None: it takes no message id."""
        found = self._functions.get((_home(module, name), name)) or self._constructor(name)
        return found if found is not None and found.templates else None

    def inherited(self, kind: ast.ClassDef) -> _Signature | None:
        """What `super().__init__` takes."""
        bases = (self._constructor(_last_name(base)) for base in kind.bases)
        return next((found for found in bases if found is not None), None)

    def _constructor(self, name: str) -> _Signature | None:
        kind = self._classes.get(name)
        if kind is None:
            return None
        for item in kind.body:
            if isinstance(item, ast.FunctionDef) and item.name == "__init__":
                return _function_signature(item, bound=True)
        fields = [item for item in kind.body if isinstance(item, ast.AnnAssign)]
        above = self.inherited(kind) or _Signature((), frozenset())
        return _Signature(
            (*above.names, *(_last_name(field.target) for field in fields)),
            above.templates | {_last_name(field.target) for field in fields if _is_template(field.annotation)},
        )


class _Reader(ast.NodeVisitor):
    """Finds the message ids of one module."""

    def __init__(self, module: _Module, index: _Index) -> None:
        self.found: dict[str, set[str]] = {}
        self.unclear: list[str] = []
        self._module = module
        self._index = index
        self._scopes: list[ast.Module | ast.ClassDef | Function] = [module.tree]
        self._markers: set[str] = set()

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:  # the name that ast looks for
        if node.module == TRANSLATION:
            self._markers |= {alias.asname or alias.name for alias in node.names if alias.name in MARKERS}
            self.unclear += [self._place(node) for alias in node.names if alias.name in NOT_FOLLOWED]

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._inside(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._inside(node)

    def visit_Call(self, node: ast.Call) -> None:
        name = _last_name(node.func)
        if name in self._markers:
            self._take(node, GETTEXT, PERCENT_FIELD, "python-format")
        elif (signature := self._called(node, name)) is not None:
            self._take(node, signature, re.compile("{"), "python-brace-format")
        self.generic_visit(node)

    def _inside(self, node: ast.ClassDef | Function) -> None:
        self._scopes.append(node)
        self.generic_visit(node)
        self._scopes.pop()

    def _called(self, call: ast.Call, name: str) -> _Signature | None:
        if name != "__init__":
            return self._index.signature(self._module.name, name)
        kind = next((scope for scope in reversed(self._scopes) if isinstance(scope, ast.ClassDef)), None)
        return self._index.inherited(kind) if kind is not None else None

    def _take(self, call: ast.Call, signature: _Signature, fields: re.Pattern[str], flag: str) -> None:
        for argument in signature.given(call):
            for text in self._texts(argument):
                self.found.setdefault(text, set()).update({flag} if fields.search(text) else ())

    def _texts(self, node: ast.expr) -> Iterator[str]:  # noqa: C901  # one branch a kind of expression
        """The texts that this expression may be; none where it hands on what is one already."""
        match node:
            case ast.Constant(value=str(text)):
                yield text
            case ast.IfExp():
                yield from self._texts(node.body)
                yield from self._texts(node.orelse)
            case ast.Name() if values := list(self._assigned(node.id)):
                for value in values:
                    yield from self._texts(value)
            case ast.Name() if self._is_parameter(node.id):
                pass  # those who call give it
            case ast.Attribute() if node.attr in self._index.attributes:
                pass
            case ast.Call() if _last_name(node.func) in {"_", "Message"}:
                yield from self._texts(node.args[0])
            case ast.Call() if _last_name(node.func) in {"str", "join"}:
                pass  # said by somebody else, in the language of the reader
            case _:
                self.unclear.append(self._place(node))

    def _is_parameter(self, name: str) -> bool:
        functions = (scope for scope in self._scopes if isinstance(scope, Function))
        return any(name in _function_signature(function, bound=False).templates for function in functions)

    def _assigned(self, name: str) -> Iterator[ast.expr]:
        """What is assigned to the name in the innermost scope that does so."""
        for scope in reversed(self._scopes):
            statements = scope.body if isinstance(scope, ast.Module) else ast.walk(scope)
            values = [value for statement in statements for value in self._values(statement, name)]
            if values:
                yield from values
                return

    def _values(self, statement: ast.AST, name: str) -> Iterator[ast.expr]:
        match statement:
            case ast.Assign():
                for target in statement.targets:
                    yield from _matched(target, statement.value, name)
            case ast.For() if any(
                isinstance(part, ast.Name) and part.id == name for part in ast.walk(statement.target)
            ):
                for row in self._rows(statement.iter):
                    yield from _matched(statement.target, row, name)

    def _rows(self, node: ast.expr) -> list[ast.expr]:
        if isinstance(node, ast.Name):
            return [row for value in self._assigned(node.id) for row in self._rows(value)]
        return node.elts if isinstance(node, ast.Tuple | ast.List) else []

    def _place(self, node: ast.expr | ast.stmt) -> str:
        return f"{self._module.name}:{node.lineno}"


def message_ids(root: Path) -> dict[str, MessageId]:
    """All message ids of the packages in a folder, but for their tests, by text; raises UnclearMessage."""
    modules = [
        _Module(file.relative_to(root).as_posix(), ast.parse(file.read_text(encoding="utf-8")))
        for file in _source(root, "*.py")
    ]
    index = _Index(modules)
    readers = {module.name: _Reader(module, index) for module in modules}
    for module in modules:
        readers[module.name].visit(module.tree)
    unclear = [place for reader in readers.values() for place in reader.unclear]
    if unclear:
        raise UnclearMessage("it can't be told what is said at " + ", ".join(unclear))
    return _merged({name: reader.found for name, reader in readers.items()} | _in_templates(root))


def _in_templates(root: Path) -> dict[str, dict[str, set[str]]]:
    """The same of the packages' templates."""
    return {
        file.relative_to(root).as_posix(): {
            text: {"python-format"} if PERCENT_FIELD.search(text) else set() for text in template_texts(file)
        }
        for file in _source(root, "*.html")
        if "templates" in file.relative_to(root).parts
    }


def _merged(found: Mapping[str, Mapping[str, set[str]]]) -> dict[str, MessageId]:
    return {
        text: MessageId(
            text,
            files=tuple(sorted(name for name, texts in found.items() if text in texts)),
            flags=tuple(sorted(set().union(*(texts.get(text, ()) for texts in found.values())))),
        )
        for text in sorted({text for texts in found.values() for text in texts})
    }


def _source(root: Path, pattern: str) -> list[Path]:
    """The files of the packages; other folders, which may hold a whole interpreter, are not looked into."""
    packages = (file.parent for file in root.glob("*/__init__.py") if file.parent.name != "tests")
    files = (file for package in packages for file in package.rglob(pattern))
    return sorted(file for file in files if "migrations" not in file.relative_to(root).parts)


def _function_signature(function: Function, *, bound: bool) -> _Signature:
    """`bound`: a method's, without `self`."""
    taken = function.args
    static = any(_last_name(decorator) == "staticmethod" for decorator in function.decorator_list)
    names = [argument.arg for argument in (*taken.posonlyargs, *taken.args)][1 if bound and not static else 0 :]
    annotated = (*taken.posonlyargs, *taken.args, *taken.kwonlyargs)
    return _Signature(
        tuple(names), frozenset(argument.arg for argument in annotated if _is_template(argument.annotation))
    )


def _matched(target: ast.expr, value: ast.expr, name: str) -> Iterator[ast.expr]:
    """What of `value` the name gets: all of it, or its part where both are tuples."""
    if isinstance(target, ast.Name):
        if target.id == name:
            yield value
    elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        for one, part in zip(target.elts, value.elts, strict=True):
            yield from _matched(one, part, name)


def _is_template(annotation: ast.expr | None) -> bool:
    return annotation is not None and any(
        isinstance(node, ast.Name) and node.id in ANNOTATIONS for node in ast.walk(annotation)
    )


def _home(module: str, name: str) -> str:
    """Private names are their module's own; public ones are the whole source's."""
    return module if name.startswith("_") and not name.startswith("__") else ""


def _last_name(node: ast.expr) -> str:
    match node:
        case ast.Name():
            return node.id
        case ast.Attribute():
            return node.attr
        case ast.Subscript() | ast.Call():
            return _last_name(node.value if isinstance(node, ast.Subscript) else node.func)
    return ""
