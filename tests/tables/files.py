"""Tables in files of every format, by writers and readers of other people's."""

import csv
import io
import json

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

KINDS = ("csv", "tsv", "jsonl", "parquet", "arrow")


def kind_of(path):
    return next(each for each in path.name.split(".") if each in KINDS)


def is_stream(path):
    """Arrow that is compressed, or called so, is a stream; any other a file."""
    return path.suffix != ".arrow" or ".stream." in path.name


def table(rows):
    """A table of a dict of columns, or of pairs of a name and a column where a name stands twice."""
    pairs = list(rows.items() if isinstance(rows, dict) else rows)
    return pa.Table.from_arrays([pa.array(column) for _, column in pairs], names=[name for name, _ in pairs])


def put(path, rows, chunk=None):
    """Write a table in the format, and with the compression, that the name says."""
    held = rows if isinstance(rows, pa.Table) else table(rows)
    path.parent.mkdir(parents=True, exist_ok=True)
    kind = kind_of(path)
    if kind == "parquet":
        pq.write_table(held, path, row_group_size=chunk)
        return path
    with pa.output_stream(path, compression="detect") as sink:
        if kind == "arrow":
            with (pa.ipc.new_stream if is_stream(path) else pa.ipc.new_file)(sink, held.schema) as file:
                file.write_table(held, max_chunksize=chunk)
        else:
            sink.write(as_text(held, kind).encode())
    return path


def as_text(held, kind):
    cells = zip(*(column.to_pylist() for column in held.columns), strict=True)
    if kind == "jsonl":
        return "".join(json.dumps(dict(zip(held.column_names, row, strict=True))) + "\n" for row in cells)
    text = io.StringIO()
    marks = {"delimiter": "\t" if kind == "tsv" else ",", "lineterminator": "\n"}
    csv.writer(text, **marks).writerows([held.column_names, *cells])
    return text.getvalue()


def read(path):
    """A released file as a dict of columns."""
    kind = kind_of(path)
    if kind == "parquet":
        return pq.read_table(path).to_pydict()
    with pa.input_stream(path, compression="detect") as source:
        raw = source.read()
    if kind == "arrow":
        return (pa.ipc.open_stream if is_stream(path) else pa.ipc.open_file)(raw).read_all().to_pydict()
    if kind == "jsonl":
        rows = [json.loads(line) for line in raw.decode().splitlines()]
        return {name: [row[name] for row in rows] for name in rows[0]}
    options = pa.csv.ParseOptions(delimiter="\t" if kind == "tsv" else ",")
    return pa.csv.read_csv(io.BytesIO(raw), parse_options=options).to_pydict()
