"""A model that says what a script says: enough of three providers' interfaces to drive the hosts without a network.

Each answer of the script is a text, or a tool call: the name of the tool and its input. What hosts send is kept.
"""

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = str | tuple[str, dict[str, Any]]


class Model:
    """What the script still has to say, and what hosts have sent."""

    def __init__(self, script: Sequence[Answer]) -> None:
        self.script = list(script)
        self.sent: list[str] = []
        self.port = 0
        self._lock = threading.Lock()

    @property
    def heard(self) -> str:
        """Everything that was sent."""
        return "\n".join(self.sent)

    def next(self) -> tuple[int, Answer]:
        """Return the next answer with its number; the last one again and again."""
        with self._lock:
            answer = self.script.pop(0) if len(self.script) > 1 else self.script[0]
            return len(self.script), answer


@contextmanager
def running(script: Sequence[Answer]) -> Iterator[Model]:
    """Run a model on a free port of this machine."""
    model = Model(script)

    class Handler(_Handler):
        def __init__(self, *args: Any) -> None:
            self.model = model
            super().__init__(*args)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    model.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield model
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    model: Model

    def log_message(self, *_: object) -> None:  # pragma: no cover
        """Say nothing."""

    def do_GET(self) -> None:
        """Answer a question for models, or whatever else."""
        self._send(b'{"data": [], "models": []}', "application/json")

    def do_POST(self) -> None:
        """Answer as the model."""
        body = self.rfile.read(int(self.headers.get("content-length") or 0)).decode("utf-8", "replace")
        self.model.sent.append(body)
        try:
            asked = json.loads(body)
        except ValueError:
            asked = {}
        if "/v1/messages" in self.path:
            self._anthropic(asked)
        elif self.path.endswith("/responses"):
            number, answer = self.model.next()
            self._events(_openai(number, answer))
        elif "enerateContent" in self.path:
            _, answer = self.model.next()
            data = json.dumps(_gemini(answer))
            if "stream" in self.path:
                self._send(f"data: {data}\n\n".encode(), "text/event-stream")
            else:
                self._send(data.encode(), "application/json")
        else:
            self._send(b"{}", "application/json")

    def _anthropic(self, asked: dict[str, Any]) -> None:
        if "count_tokens" in self.path:
            self._send(b'{"input_tokens": 10}', "application/json")
        elif not asked.get("tools"):
            self._events(_anthropic(0, "a title"))
        else:
            self._events(_anthropic(*self.model.next()))

    def _events(self, events: list[dict[str, Any]]) -> None:
        text = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
        self._send(text.encode(), "text/event-stream")

    def _send(self, data: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def _anthropic(number: int, answer: Answer) -> list[dict[str, Any]]:
    if isinstance(answer, str):
        block: dict[str, Any] = {"type": "text", "text": ""}
        delta = {"type": "text_delta", "text": answer}
    else:
        block = {"type": "tool_use", "id": f"toolu_{number}", "name": answer[0], "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(answer[1])}
    message: dict[str, Any] = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [],
        "stop_reason": None,
    }
    reason = "end_turn" if isinstance(answer, str) else "tool_use"
    return [
        {"type": "message_start", "message": {**message, "usage": {"input_tokens": 1, "output_tokens": 1}}},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 1}},
        {"type": "message_stop"},
    ]


def _openai(number: int, answer: Answer) -> list[dict[str, Any]]:
    if isinstance(answer, str):
        item: dict[str, Any] = {"type": "message", "role": "assistant", "id": f"m_{number}"}
        item["content"] = [{"type": "output_text", "text": answer}]
    else:
        item = {"type": "function_call", "id": f"f_{number}", "call_id": f"c_{number}", "name": answer[0]}
        item["arguments"] = json.dumps(answer[1])
    usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
    usage |= {"input_tokens_details": None, "output_tokens_details": None}  # type: ignore[dict-item]
    return [
        {"type": "response.created", "response": {"id": f"r_{number}"}},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": {"id": f"r_{number}", "usage": usage}},
    ]


def _gemini(answer: Answer) -> dict[str, Any]:
    part = {"text": answer} if isinstance(answer, str) else {"functionCall": {"name": answer[0], "args": answer[1]}}
    candidate = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
    usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
    return {"candidates": [candidate], "usageMetadata": usage}
