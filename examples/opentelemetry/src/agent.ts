/** An agent with a tool. It knows nothing of Tachograph: its spans go where `OTEL_EXPORTER_OTLP_ENDPOINT` says. */
import { openai } from "@ai-sdk/openai"
import { OpenTelemetry } from "@ai-sdk/otel"
import { context, trace } from "@opentelemetry/api"
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks"
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto"
import { BatchSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace"
import { generateText, isStepCount, jsonSchema, registerTelemetry, tool } from "ai"

// Without a context manager no span has a parent, and each call is alone.
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
const provider = new TracerProvider({ spanProcessors: [new BatchSpanProcessor({ exporter: new OTLPTraceExporter() })] })
trace.setGlobalTracerProvider(provider)
// By default no span says which session a call belongs to.
registerTelemetry(new OpenTelemetry({ runtimeContext: true }))

const session = process.argv[2] ?? "ticket-17"
try {
  const { text } = await generateText({
    model: openai.chat("gpt-5-mini"),
    instructions: "You tell the weather.",
    prompt: "How is the weather in Bern?",
    stopWhen: isStepCount(3),
    tools: {
      get_weather: tool({
        description: "The weather in a city",
        inputSchema: jsonSchema<{ city: string }>({ type: "object", properties: { city: { type: "string" } } }),
        execute: ({ city }) => ({ city, sky: "clear", celsius: 17 })
      })
    },
    runtimeContext: { sessionId: session, userId: "customer-42", agentVersion: "1.2.0" },
    telemetry: {
      functionId: "weather",
      includeRuntimeContext: { sessionId: true, userId: true, agentVersion: true }
    }
  })
  console.log(text)
} finally {
  // What is still in the batch would be lost at the end of the process.
  await provider.shutdown()
}
