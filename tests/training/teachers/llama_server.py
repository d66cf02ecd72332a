"""A real llama-server in a process of its own, with SmolLM2 and a template that knows tools: prints its URL, and stays.

    python llama_server.py MODEL.gguf

xllamacpp holds llama.cpp's own server; it has no way to stop but the end of its process.
"""

import sys
from threading import Event

# SmolLM2's own template has no place for tools: ChatML with the tools and calls of Hermes, which llama-server reads.
TEMPLATE = """\
{%- for message in messages %}
{{- '<|im_start|>' + ('user' if message.role == 'tool' else message.role) + '\\n' }}
{%- if message.role == 'tool' %}{{- '<tool_response>\\n' + message.content + '\\n</tool_response>' }}
{%- else %}{{- message.content or '' }}{%- endif %}
{%- if loop.first and tools %}
{{- '\\n\\n# Tools\\n\\nYou may call one or more functions to assist with the user query.\\n\\n' }}
{{- 'You are provided with function signatures within <tools></tools> XML tags:\\n<tools>' }}
{%- for tool in tools %}{{- '\\n' + (tool | tojson) }}{%- endfor %}
{{- '\\n</tools>\\n\\nFor each function call, return a json object with function name and arguments within ' }}
{{- '<tool_call></tool_call> XML tags:\\n<tool_call>\\n{"name": <function-name>, "arguments": <args-json-object>}' }}
{{- '\\n</tool_call>' }}
{%- endif %}
{%- for call in message.tool_calls or [] %}
{{- '\\n<tool_call>\\n{"name": "' + call.function.name + '", "arguments": ' }}
{{- (call.function.arguments | tojson) + '}\\n</tool_call>' }}
{%- endfor %}
{{- '<|im_end|>\\n' }}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{%- endif %}"""


def main() -> None:
    import xllamacpp  # type: ignore[import-untyped]

    params = xllamacpp.CommonParams()
    params.model.path, params.n_ctx, params.n_parallel, params.port = sys.argv[1], 4_096, 1, 0
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1  # two wait for each other where cores are shared
    params.use_jinja, params.chat_template = True, TEMPLATE
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    Event().wait()


if __name__ == "__main__":
    main()
