/**
 * Records calls of Vercel's AI SDK through its own telemetry: one event for each call of a model, however many steps a
 * generation has. Versions 6 and 7 call other functions of one object.
 */
import { failureOf } from "@tachograph/capture/Failures"
import type { CallContext } from "../context/Context.ts"
import { isObject } from "../event/Event.ts"
import { secretsOf } from "../event/Secrets.ts"
import * as AnswerSoFar from "./AnswerSoFar.ts"
import type { Fields, OpenCalls, Started } from "./OpenCalls.ts"
import * as StreamWatch from "./StreamWatch.ts"
import * as TelemetryJson from "./TelemetryJson.ts"
import { definitionsOf } from "./Tools.ts"

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
  /** Version 7 only: it makes the call. */
  readonly executeLanguageModelCall: <A>(event: { readonly execute: () => PromiseLike<A> }) => Promise<A>
  /** For `generateObject` and `streamObject` of version 7, of which version 6 tells nothing; as are the next three. */
  readonly onStart: (event: unknown) => void
  readonly onObjectStepEnd: (event: unknown) => void
  readonly onEnd: (event: unknown) => void
  readonly onError: (event: unknown) => void
}

const forObjects = new Set<unknown>(["ai.generateObject", "ai.streamObject"])

/** A call of a model that is over. Both texts are JSON. */
export interface AiSdkCall {
  readonly inputs: string
  readonly output: string
  /** Credentials that the payload may hold. */
  readonly secrets: ReadonlyArray<string>
  readonly occurredAt: Date
  readonly durationMs: number
  readonly firstTokenMs: number | undefined
  /** The status of a provider's error. Of an answer it is not told. */
  readonly httpStatus: number | undefined
}

export interface TelemetryOptions {
  readonly openCalls: OpenCalls
  /** What surrounds the caller. */
  readonly context: () => CallContext
  /** How long a stream may lie unread before it is recorded as far as it came, in ms. */
  readonly unreadMs: number
  /** Gets each call when it is over, with what surrounded its start. */
  readonly record: (call: AiSdkCall, context: CallContext) => void
  /** Called for a call that cannot be recorded. */
  readonly lost: (cause: unknown) => void
}

const numberIn = (value: unknown, name: string): number | undefined => {
  const found = isObject(value) ? value[name] : undefined
  return typeof found === "number" ? found : undefined
}

/** What is told of an error that was met again and again is the last one. */
const statusOf = ({ error }: Fields): number | undefined => {
  const status =
    numberIn(error, "statusCode") ?? numberIn(isObject(error) ? error["lastError"] : undefined, "statusCode")
  return status !== undefined && Number.isInteger(status) && status >= 100 && status <= 599 ? status : undefined
}

const callOf = (started: Started, event: Fields, output: string): AiSdkCall => {
  const inputs = TelemetryJson.write(started.inputs)
  const secrets = [started.told, TelemetryJson.toldOf(event)].flatMap((told) => secretsOf(told, inputs))
  secrets.sort((a, b) => b.length - a.length)
  return {
    inputs,
    output,
    secrets,
    occurredAt: started.occurredAt,
    durationMs: performance.now() - started.startedAt,
    firstTokenMs: numberIn(event["performance"], "timeToFirstOutputMs") ?? numberIn(started.answer, "msToFirstChunk"),
    httpStatus: statusOf(event)
  }
}

/** What a call comes to that is under way when the process ends. */
export const unfinished = (started: Started): AiSdkCall =>
  callOf(started, {}, TelemetryJson.write({ ...started.said?.(), ...failureOf("exit") }))

export const make = ({ context, lost, openCalls, record, unreadMs }: TelemetryOptions): AiSdkTelemetry => {
  const end = (event: Fields, output: (started: Started) => string) => {
    // Version 7 tells the end of a step twice.
    const started = openCalls.take(event, context())
    if (started === undefined) return
    // JSON cannot write all that an application gives to the SDK.
    try {
      record(callOf(started, event, output(started)), started.context)
    } catch (cause) {
      lost(cause)
    }
  }
  /** What fails here must not fail a generation. */
  const safely = (run: (event: Fields) => void) => (event: unknown) => {
    try {
      if (isObject(event)) run(event)
    } catch {}
  }
  const onStepEnd = safely((event) =>
    end(event, ({ answered }) => TelemetryJson.write(TelemetryJson.outputOf(event, answered)))
  )

  const begin = (event: Fields, inputs: Fields) =>
    openCalls.add(event, {
      inputs,
      answered: TelemetryJson.answeredBefore(event),
      context: context(),
      told: TelemetryJson.toldOf(event),
      occurredAt: new Date(),
      startedAt: performance.now()
    })
  const endObject = (event: Fields) =>
    end(event, ({ answer }) => {
      const text = TelemetryJson.write(TelemetryJson.objectOf(event, answer))
      return event["error"] === undefined ? text : TelemetryJson.withoutKeys(text)
    })

  const watch = (event: Fields, result: unknown) =>
    safely((answer) => {
      const { stream } = answer
      if (!(stream instanceof ReadableStream)) return
      const said = AnswerSoFar.make((bytes) => openCalls.hold(event, bytes))
      const unwatch = StreamWatch.watch(stream, {
        unreadMs,
        see: said.take,
        left: (interruption) => end(event, () => TelemetryJson.write({ ...said.result(), ...failureOf(interruption) }))
      })
      openCalls.know(event, { said: said.result, unwatch })
    })(result)

  return {
    onStepStart: safely((event) => {
      const { activeTools, callId, stepToolChoice, stepTools, tools } = event
      // Version 7 has the tools and the choice as they are sent.
      const prepared = {
        ...(Array.isArray(stepTools) ? { tools: stepTools } : {}),
        ...(callId === undefined && isObject(tools) ? { tools: definitionsOf(tools, activeTools) } : {}),
        ...(stepToolChoice === undefined ? {} : { toolChoice: stepToolChoice })
      }
      begin(event, { ...TelemetryJson.inputsOf(event), ...prepared })
    }),
    // Its settings, such as the temperature. The messages are those of the step.
    onLanguageModelCallStart: safely((event) => openCalls.complete(event, TelemetryJson.inputsOf(event))),
    onStepEnd,
    onStepFinish: onStepEnd,
    onStepError: safely((event) =>
      end(event, ({ said }) =>
        TelemetryJson.withoutKeys(TelemetryJson.write({ ...said?.(), ...TelemetryJson.failureOfError(event["error"]) }))
      )
    ),
    onAbort: safely((event) => {
      const { reason } = event
      const failure = failureOf(isObject(reason) && reason["name"] === "TimeoutError" ? "timeout" : "aborted")
      end(event, ({ said }) => TelemetryJson.write({ ...said?.(), ...failure }))
    }),
    executeLanguageModelCall: async (event) => {
      const result = await event.execute()
      watch(event, result)
      return result
    },
    onStart: safely((event) => {
      const { operationId, output } = event
      // Whether an array, an enumeration or an object is asked for. Elsewhere it is a value of the application.
      if (forObjects.has(operationId)) begin(event, { ...TelemetryJson.inputsOf(event), output })
    }),
    onObjectStepEnd: safely((event) => openCalls.know(event, { answer: event })),
    onEnd: safely((event) => {
      if ("object" in event) endObject(event)
    }),
    onError: safely(endObject)
  }
}

const ignore = () => {}

/** Makes the calls, and records none. */
export const off: AiSdkTelemetry = {
  onStepStart: ignore,
  onLanguageModelCallStart: ignore,
  onStepEnd: ignore,
  onStepFinish: ignore,
  onStepError: ignore,
  onAbort: ignore,
  executeLanguageModelCall: async ({ execute }) => execute(),
  onStart: ignore,
  onObjectStepEnd: ignore,
  onEnd: ignore,
  onError: ignore
}
