from typing import Any, Callable, Iterator, Literal, Mapping, Sequence

__version__: str

_Data = bytes | bytearray | memoryview | str
_Classes = Mapping[str, Callable[[Any], Any]] | Callable[[str, Any], Any]
_Strings = Literal["auto", "bytes", "str", "latin1"]
_Symbols = Literal["symbol", "str"]
_Losses = Literal["warn", "raise", "ignore"] | list[Any]

def loads(
    data: _Data,
    format: str | None = None,
    *,
    classes: _Classes | None = None,
    allow: Sequence[str] | None = None,
    strings: _Strings | None = None,
    symbols: _Symbols | None = None,
    known: bool = False,
    limits: dict[str, int] | None = None,
) -> Any: ...
def dumps(
    value: Any,
    format: str = "php",
    *,
    default: Callable[[Any], Any] | None = None,
    losses: _Losses | None = None,
    limits: dict[str, int] | None = None,
    **options: bool | int | str,
) -> bytes: ...
def convert(
    data: _Data,
    to: str,
    from_: str | None = None,
    *,
    losses: _Losses | None = None,
    limits: dict[str, int] | None = None,
) -> bytes: ...
def detect(data: _Data) -> dict[str, Any] | None: ...
def classes(
    data: _Data, format: str | None = None, *, limits: dict[str, int] | None = None
) -> list[tuple[str, str, int, str]]: ...
def rows(
    data: _Data,
    format: str | None = None,
    *,
    items: int = 100,
    text: int = 80,
    limits: dict[str, int] | None = None,
) -> tuple[str, list[tuple[Any, ...]], Any]: ...
def formats() -> list[tuple[str, str]]: ...

class Record:
    cls: str | bytes
    fields: Any
    value: Any
    visibility: dict[str, str] | None
    @property
    def form(self) -> str: ...
    def __init__(
        self,
        cls: str | bytes,
        fields: Any = None,
        *,
        form: str = "object",
        value: Any = None,
        visibility: dict[str, str] | None = None,
    ) -> None: ...
    def __getitem__(self, key: Any) -> Any: ...
    def __setitem__(self, key: Any, value: Any) -> None: ...
    def __delitem__(self, key: Any) -> None: ...
    def __contains__(self, key: Any) -> bool: ...
    def __iter__(self) -> Iterator[Any]: ...
    def __len__(self) -> int: ...

class Documents:
    def __init__(
        self,
        format: str | None = None,
        *,
        classes: _Classes | None = None,
        allow: Sequence[str] | None = None,
        strings: _Strings | None = None,
        symbols: _Symbols | None = None,
        known: bool = False,
        limits: dict[str, int] | None = None,
    ) -> None: ...
    def feed(self, piece: bytes) -> None: ...
    def next(self) -> tuple[bool, Any]: ...
    @property
    def ended(self) -> bool: ...
    @property
    def format(self) -> str | None: ...

class Column:
    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]: ...
    def __arrow_c_schema__(self) -> object: ...
    def __len__(self) -> int: ...
    @property
    def null_count(self) -> int: ...

class Chunks:
    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...
    def __arrow_c_schema__(self) -> object: ...

class Type:
    def __init__(self, given: Any) -> None: ...
    @staticmethod
    def structure(parts: list[tuple[str, Type]]) -> Type: ...
    @staticmethod
    def list(item: Type) -> Type: ...
    @property
    def learned(self) -> bool: ...
    def __arrow_c_schema__(self) -> object: ...

class Decoded:
    @property
    def column(self) -> Column | Chunks: ...
    @property
    def errors(self) -> _BadRows: ...
    @property
    def texts(self) -> Column | Chunks | None: ...
    @property
    def kept(self) -> Column | Chunks | None: ...
    @property
    def extra(self) -> tuple[int, int] | None: ...

class Decoder:
    def __init__(
        self,
        schema: Type,
        format: str | None = None,
        on_error: str = "raise",
        limits: dict[str, int] | None = None,
        threads: int | None = None,
    ) -> None: ...
    def decode(self, column: Any) -> Decoded: ...
    def decode_chunks(self, column: Any) -> Decoded: ...
    def stream(self, column: Any) -> Chunks: ...
    def __arrow_c_schema__(self) -> object: ...

_BadRows = list[tuple[int, Any]]

def learn(column: Any, format: str | None = None, limits: dict[str, int] | None = None) -> Type: ...
def encode(
    column: Any,
    format: str,
    on_error: str = "raise",
    losses: _Losses | None = None,
    limits: dict[str, int] | None = None,
) -> tuple[Chunks, _BadRows]: ...
