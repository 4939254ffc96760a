/**
 * Records calls of Vercel's AI SDK through its own telemetry: one event for each call of a model, however many steps a
 * generation has. Versions 6 and 7 call other functions of one object.
 */
import { failureOf } from "@tachograph/formats/Failures"
import { isObject } from "../event/Event.ts"

/** For `registerTelemetry` of version 7, `registerTelemetryIntegration` of version 6, and `integrations` of a single call. */
export interface AiSdkTelemetry {
  readonly onStepStart: (event: unknown) => void
  /** Version 7 only. */
  readonly onLanguageModelCallStart: (event: unknown) => void
  /** Version 7 only. */
  readonly onStepEnd: (event: unknown) => void
  readonly onStepFinish: (event: unknown) => void
  /** Version 7 only: version 6 does not tell of errors. */
  readonly onStepError: (event: unknown) => void
  /** Version 7 only. */
  readonly onAbort: (event: unknown) => void
}

/** A call of a model that is over. Both texts are JSON. */
export interface AiSdkCall {
  readonly inputs: string
  readonly output: string
  readonly occurredAt: Date
  readonly durationMs: number
  readonly firstTokenMs: number | undefined
}

type Fields = Readonly<Record<string, unknown>>

interface Started {
  readonly inputs: Fields
  readonly occurredAt: Date
  readonly startedAt: number
}

/** Generations under way, of which some may never be said to have ended. */
const maxStarted = 1_000

/** What is no part of the request: results of earlier steps, functions, and values of the application. */
const notOfInputs = new Set([
  ...["callId", "steps", "abortSignal", "experimental_context", "runtimeContext", "toolsContext", "metadata", "output"],
  ...["include", "stopWhen", "timeout", "promptMessages", "stepTools", "stepToolChoice", "error", "durableContext"]
])

const notOfOutput = new Set(["callId", "runtimeContext", "toolsContext", "experimental_context", "metadata"])

/** They can hold credentials, and version 6 repeats the request in each result. */
const notWritten = new Set(["headers", "responseHeaders", "requestBodyValues", "responseBody", "request"])

const without = (fields: Fields, names: ReadonlySet<string>): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => !names.has(name)))

const write = (fields: Fields): string =>
  JSON.stringify(fields, (key, value: unknown) => {
    if (notWritten.has(key)) return undefined
    if (value instanceof Uint8Array) return Array.from(value, (byte) => byte.toString(16).padStart(2, "0")).join("")
    return value
  })

/** An error has no fields that JSON shows, except those of its class. */
const errorFields = (error: unknown): Fields =>
  error instanceof Error
    ? { ...(error as unknown as Fields), name: error.name, message: error.message }
    : { message: String(error) }

const numberIn = (value: unknown, name: string): number | undefined => {
  const found = isObject(value) ? value[name] : undefined
  return typeof found === "number" ? found : undefined
}

/** The texts of a value, written as in JSON, so that they can be looked for in it. */
const textsIn = (value: unknown): ReadonlyArray<string> => {
  if (typeof value === "string") return [JSON.stringify(value).slice(1, -1)]
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : []
}

/**
 * Generations of version 6 that are under way. It has no ids. A call without streaming has one object for its model from the
 * start of a step to its end; a stream has not, but tells which request was sent, which holds the texts of the last message.
 */
const makeByModel = () => {
  const all: Array<{ readonly model: object; readonly started: Started }> = []
  const isAsked = ({ inputs }: Started, request: string) => {
    const { messages } = inputs
    return textsIn(Array.isArray(messages) ? messages.at(-1)?.content : undefined).every((text) =>
      request.includes(text)
    )
  }
  const indexOf = ({ model, request, stepNumber }: Fields): number => {
    const index = all.findIndex((entry) => entry.model === model)
    if (index !== -1 || !isObject(model) || !isObject(request)) return index
    const body = typeof request["body"] === "string" ? request["body"] : (JSON.stringify(request["body"]) ?? "")
    return all.findIndex(
      ({ model: other, started }) =>
        (other as Fields)["modelId"] === model["modelId"] &&
        started.inputs["stepNumber"] === stepNumber &&
        isAsked(started, body)
    )
  }
  return {
    add: (model: object, started: Started) => {
      all.push({ model, started })
      if (all.length > maxStarted) all.shift()
    },
    take: (event: Fields): Started | undefined => {
      const index = indexOf(event)
      return index === -1 ? undefined : all.splice(index, 1)[0]!.started
    }
  }
}

/** `record` gets each call when it is over. */
export const make = (record: (call: AiSdkCall) => void): AiSdkTelemetry => {
  const byCall = new Map<string, Started>()
  const byModel = makeByModel()

  const keep = (callId: string, started: Started) => {
    byCall.set(callId, started)
    const oldest = byCall.size > maxStarted ? byCall.keys().next().value : undefined
    if (oldest !== undefined) byCall.delete(oldest)
  }
  const take = (event: Fields): Started | undefined => {
    const { callId } = event
    if (typeof callId !== "string") return byModel.take(event)
    const started = byCall.get(callId)
    byCall.delete(callId)
    return started
  }
  const end = (event: Fields, output: Fields) => {
    // Version 7 tells the end of a step twice.
    const started = take(event)
    if (started === undefined) return
    record({
      inputs: write(started.inputs),
      output: write(output),
      occurredAt: started.occurredAt,
      durationMs: performance.now() - started.startedAt,
      firstTokenMs: numberIn(event["performance"], "timeToFirstOutputMs")
    })
  }
  /** What fails here must not fail a generation. */
  const safely = (run: (event: Fields) => void) => (event: unknown) => {
    try {
      if (isObject(event)) run(event)
    } catch {}
  }
  const onStepEnd = safely((event) => end(event, without(event, notOfOutput)))

  return {
    onStepStart: safely((event) => {
      const { stepToolChoice, stepTools, ...fields } = event
      // Version 7 has the tools and the choice as they are sent.
      const prepared = {
        ...(Array.isArray(stepTools) ? { tools: stepTools } : {}),
        ...(stepToolChoice === undefined ? {} : { toolChoice: stepToolChoice })
      }
      const inputs = { ...without(fields, notOfInputs), ...prepared }
      const started = { inputs, occurredAt: new Date(), startedAt: performance.now() }
      const { callId, model } = event
      if (typeof callId === "string") keep(callId, started)
      else if (isObject(model)) byModel.add(model, started)
    }),
    onLanguageModelCallStart: safely((event) => {
      const { callId } = event
      const started = typeof callId === "string" ? byCall.get(callId) : undefined
      if (started === undefined) return
      // Its settings, such as the temperature. The messages are those of the step.
      keep(callId as string, { ...started, inputs: { ...without(event, notOfInputs), ...started.inputs } })
    }),
    onStepEnd,
    onStepFinish: onStepEnd,
    onStepError: safely((event) => end(event, { error: errorFields(event["error"]) })),
    onAbort: safely((event) => end(event, { ...failureOf("aborted") }))
  }
}
