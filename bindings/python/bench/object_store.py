"""A local object store for benchmarks."""

import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pyarrow import fs


@contextmanager
def carried(paths: list[Path], said: Path) -> Iterator[str]:
    """Serves the published directories at these paths, and yields a URI pattern. Needs `moto[s3]` and flask."""
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", "0"]
    with said.open("w") as log, subprocess.Popen(command, stdout=log, stderr=log) as server:
        try:
            while not (port := re.search(r"127\.0\.0\.1:(\d+)", said.read_text())):
                if server.poll() is not None:
                    raise SystemExit(said.read_text())
                time.sleep(0.1)
            query = f"?endpoint_override=127.0.0.1:{port[1]}&scheme=http&region=us-east-1"
            there, base = fs.FileSystem.from_uri(f"s3://key:secret@crawl{query}&allow_bucket_creation=true")
            there.create_dir(base)
            for path in paths:
                for part in ("files", "generations"):
                    fs.copy_files(str(path / part), f"{base}/{path.name}/{part}", fs.LocalFileSystem(), there)
            yield f"s3://key:secret@crawl/w*/{query}"
        finally:
            server.terminate()
