/** Takes posts of OTLP: what is complete is recorded at once, and the rest waits in the storage. A 200 says that all of it is kept. */
import { assemble, type Assembled, type Link, type Step } from "@tachograph/capture/spans/Assemble"
import { kindOf } from "@tachograph/capture/spans/Emitters"
import { contextOf, isContext } from "@tachograph/capture/spans/Groups"
import type { Steps } from "@tachograph/core"
import * as Effect from "effect/Effect"
import type { Exchange } from "../Engine.ts"
import { loopBudget } from "../events/LoopBudget.ts"
import { bufferOf } from "../events/SentEvent.ts"
import * as Answers from "./Answers.ts"
import * as Decoded from "./Decoded.ts"
import * as LeftOut from "./LeftOut.ts"
import * as OtlpJson from "./OtlpJson.ts"
import type { Told } from "./Parts.ts"
import * as Protobuf from "./Protobuf.ts"
import type * as RecordCalls from "./RecordCalls.ts"
import type * as RecordSteps from "./RecordSteps.ts"
import type * as Waiting from "./Waiting.ts"

/** Links of one trace of a post that wait. */
const maxLinks = 1_000

/** What of a post has to wait: calls that are not complete, log records of none, and what later calls may need of their ancestors. */
const toHold = (
  { links, spans }: Decoded.Decoded,
  { calls, logs, steps }: Assembled,
  early: ReadonlySet<Step>,
  /** Of what waits already. */
  tracesWaiting: ReadonlyArray<string>
): ReadonlyArray<Told> => {
  const waiting = [
    ...calls.filter(({ isComplete }) => !isComplete),
    ...steps.filter((step) => !step.isComplete || early.has(step))
  ]
  const traces = new Map<string, number>(
    [...tracesWaiting, ...waiting.map(({ span }) => span.traceId)].map((trace) => [trace, 0])
  )
  const isHeld = ({ traceId }: Link) => {
    const held = traces.get(traceId)
    if (held === undefined || held >= maxLinks) return false
    traces.set(traceId, held + 1)
    return true
  }
  return [
    ...waiting.flatMap(({ logs, spans }) => [...spans.map((span) => ({ span })), ...logs.map((log) => ({ log }))]),
    ...logs.map((log) => ({ log })),
    ...spans.filter((span) => kindOf(span) !== "call" && isContext(span)).map((span) => ({ context: contextOf(span) })),
    ...links.filter(isHeld).map((link) => ({ link }))
  ]
}

/** Reads a post. What is no post is said in one line. */
function* decoded(
  post: Buffer,
  encoding: Answers.Encoding,
  signal: Decoded.Signal
): Steps.Steps<Decoded.Decoded | Decoded.Undecodable> {
  try {
    return encoding === "json" ? yield* OtlpJson.decode(post, signal) : yield* Protobuf.decode(post, signal)
  } catch (error) {
    // A mistake of ours is no mistake of the post.
    if (error instanceof TypeError) throw error
    // The reader of protobuf throws errors of its own.
    return error instanceof Decoded.Undecodable ? error : new Decoded.Undecodable("The post is no protobuf of OTLP")
  }
}

export const make = (
  recordCalls: RecordCalls.RecordCalls,
  recordSteps: RecordSteps.RecordSteps,
  waiting: Waiting.Waiting
) => {
  const record = Effect.fnUntraced(function* (
    { maxEventBytes, project }: Exchange,
    signal: Decoded.Signal,
    post: Decoded.Decoded
  ) {
    for (const [name, number] of post.others) yield* LeftOut.count(signal === "traces" ? "span" : "log", name, number)
    const assembled = assemble(post)
    const complete = assembled.calls.filter(({ isComplete }) => isComplete)
    const outcomes = yield* recordCalls(project, complete, { maxEventBytes })
    const steps = assembled.steps.filter(({ isComplete }) => isComplete)
    const early = new Set(yield* recordSteps(project, steps))
    // A span between a call and whose it is may end, and come, long after the call.
    const linked = Array.from(new Set(post.links.map(({ traceId }) => traceId)))
    const tracesWaiting = linked.length === 0 ? [] : yield* waiting.tracesAmong(project, linked)
    const held = toHold(post, assembled, early, tracesWaiting)
    if (held.length > 0) yield* waiting.hold(project, held)
    const refused = outcomes.flatMap((outcome) => (outcome === "recorded" ? [] : [outcome.refused]))
    const undecoded = Array.from(post.refused)
    const messages = [...refused, ...undecoded.map(([why, number]) => `${number} ${why}`)]
    return {
      rejected: undecoded.reduce((sum, [, number]) => sum + number, refused.length),
      message: Array.from(new Set(messages)).join("; ")
    }
  })

  const handle = (signal: Decoded.Signal) =>
    Effect.fnUntraced(function* (exchange: Exchange) {
      const { body, headers } = exchange
      const encoding = Answers.encodingOf(headers["content-type"])
      if (encoding === undefined) return Answers.otherType
      const post = yield* loopBudget.runSteps(decoded(bufferOf(body), encoding, signal))
      if (post instanceof Decoded.Undecodable) return Answers.undecodable(encoding, post.message)
      const { message, rejected } = yield* record(exchange, signal, post)
      return Answers.taken(encoding, signal, rejected, message)
    })

  return { traces: handle("traces"), logs: handle("logs") }
}
