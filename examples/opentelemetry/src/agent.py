"""A call of a model that this program tells itself, by the semantic conventions of OpenTelemetry. It knows nothing of Tachograph: the exporter takes
its address and its key from variables."""

import json
import os
import sys
import urllib.request

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

provider = TracerProvider()
provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
tracer = provider.get_tracer("agent.py")

MODEL = "gpt-5-mini"


def post(body):
    url = os.environ.get("OPENAI_BASE_URL", "https://api.openai.com/v1") + "/chat/completions"
    headers = {"Content-Type": "application/json", "Authorization": "Bearer " + os.environ["OPENAI_API_KEY"]}
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request) as response:
        return json.load(response)


def parts(messages):
    return json.dumps([{"role": m["role"], "parts": [{"type": "text", "content": m["content"]}]} for m in messages])


def chat(session, messages):
    # Where the call raises, the span ends with the error, and so is the call recorded.
    with tracer.start_as_current_span(f"chat {MODEL}", kind=trace.SpanKind.CLIENT) as span:
        span.set_attribute("gen_ai.operation.name", "chat")
        span.set_attribute("gen_ai.provider.name", "openai")
        span.set_attribute("gen_ai.request.model", MODEL)
        span.set_attribute("gen_ai.conversation.id", session)
        span.set_attribute("gen_ai.agent.name", "python")
        span.set_attribute("gen_ai.input.messages", parts(messages))
        answer = post({"model": MODEL, "messages": messages})
        choice = answer["choices"][0]
        span.set_attribute("gen_ai.output.messages", parts([choice["message"]]))
        span.set_attribute("gen_ai.response.id", answer["id"])
        span.set_attribute("gen_ai.response.model", answer["model"])
        span.set_attribute("gen_ai.response.finish_reasons", [choice["finish_reason"]])
        span.set_attribute("gen_ai.usage.input_tokens", answer["usage"]["prompt_tokens"])
        span.set_attribute("gen_ai.usage.output_tokens", answer["usage"]["completion_tokens"])
        return choice["message"]["content"]


session = sys.argv[1] if len(sys.argv) > 1 else "ticket-18"
try:
    print(chat(session, [{"role": "user", "content": "How is the weather in Bern?"}]))
finally:
    # What is still in the batch would be lost at the end of the process.
    provider.shutdown()
