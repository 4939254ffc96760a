/** Records the lines of a batch, and answers each, in their order. A line that is refused keeps none from the others. */
import { ignoredHeader, PayloadTooLargeError, ValidationFailure } from "@tachograph/api"
import { CurrentProject, Errors, type Permit, type ProjectId, type Recorder } from "@tachograph/core"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as Result from "effect/Result"
import * as Semaphore from "effect/Semaphore"
import * as Stream from "effect/Stream"
import type { Exchange } from "../Engine.ts"
import * as EventResponse from "../events/EventResponse.ts"
import { whenThereIsRoom } from "../events/RecordMany.ts"
import type { Decode } from "../events/SentEvent.ts"
import type * as Answer from "../response/Answer.ts"
import type { BodyStream } from "../response/BodyStream.ts"
import * as ErrorAnswer from "../response/ErrorAnswer.ts"
import * as IgnoredFields from "../response/IgnoredFields.ts"
import { invalidJson } from "../validation/JsonBody.ts"
import * as BatchLine from "./BatchLine.ts"
import { type Line, LineReader } from "./LineReader.ts"

/** Lines of a batch that are under way: read, and their answers not taken. One line alone may have any length. */
const maxLines = 64
const maxBytes = 4 * 1024 * 1024

/** What a line takes of the window, beside its bytes. */
const lineCost = maxBytes / maxLines
const costOf = ({ bytes }: Sent) => Math.min(maxBytes, lineCost + (bytes?.length ?? 0))

interface UnderWay {
  readonly cost: number
  readonly answer: Effect.Effect<string>
}

interface Answered {
  readonly cost: number
  readonly text: string
}

interface Refused {
  readonly number: number
  readonly bytes: undefined
  readonly refusal: unknown
}

type Sent = Line<Permit> | Refused

type Limits = Pick<Exchange, "isStrict" | "maxEventBytes">

const textOf = (number: number, { body, headers, status }: Answer.Answer): string => {
  const replayed = headers["idempotent-replayed"] === undefined ? "" : `,"idempotent_replayed":true`
  const ignored = headers[ignoredHeader]
  const named = ignored === undefined ? "" : `,"ignored":${JSON.stringify(ignored)}`
  return `{"line":${number},"status":${status},${String(body).slice(1, -1)}${replayed}${named}}\n`
}

/** Cuts what is beyond the limit, and fails after it. */
const limited = (body: BodyStream, maxBytes: number): BodyStream => {
  let left = maxBytes
  return {
    next: async () => {
      if (left < 0) throw new PayloadTooLargeError()
      const piece = await body.next()
      left -= piece?.length ?? 0
      return left < 0 ? piece?.subarray(0, left) : piece
    },
    cancel: body.cancel
  }
}

/** What the line that could not be read to its end is answered. */
const unread = (error: unknown) =>
  error instanceof PayloadTooLargeError
    ? error
    : new ValidationFailure({ detail: [invalidJson(0, "The body could not be read to its end")] })

/** Not blank. What a long line that is blank holds is given back. */
const isWritten = (line: Sent): boolean => {
  if (line.bytes === undefined || !BatchLine.isBlank(line.bytes)) return true
  line.held?.release()
  return false
}

/** Counts a line among what waits to be committed. Fails where there is no room for it. */
const entering = (bytes: Uint8Array, held: Permit | undefined, permit: Permit) => {
  let isReserved = held !== undefined
  return Effect.suspend(() => {
    isReserved ||= permit.reserve(bytes.length)
    return isReserved && permit.enqueue() ? Effect.void : Effect.fail(new Errors.Overloaded())
  })
}

const lines = Metric.counter("tachograph_batch_lines_total", {
  description: "Lines of batches that were answered, by status",
  incremental: true
})

const count = (status: string, added: number) => Metric.update(Metric.withAttributes(lines, { status }), added)

/** Creates the series that alerts watch. */
export const initialize = Effect.andThen(count("500", 0), count("503", 0))

const counted = (number: number, answer: Answer.Answer) =>
  Effect.as(count(String(answer.status), 1), textOf(number, answer))

export const make = (recorder: Recorder["Service"], decode: Decode) => {
  const { admission } = recorder
  const answerErrors = ErrorAnswer.make()

  /** Succeeds when the event waits to be committed, with its answer. The permit is released after that. */
  const queue = Effect.fnUntraced(function* (project: ProjectId, line: Sent, permit: Permit, limits: Limits) {
    if (line.bytes === undefined) return yield* Effect.fail(line.refusal)
    yield* whenThereIsRoom(entering(line.bytes, line.held, permit))
    const arrivedAtMs = performance.now()
    const { body, key } = BatchLine.of(line.bytes)
    if (body.length > limits.maxEventBytes) return yield* new PayloadTooLargeError()
    const { event, ignored } = yield* decode(project, { bytes: body, isJson: true }, limits.isStrict, key)
    const recorded = yield* recorder.queueEvent({ ...event, arrivedAtMs, isAdmitted: true }, permit)
    return Effect.map(recorded, (written) => IgnoredFields.name(EventResponse.receipt(written), ignored))
  })

  /** The answers to the lines of a body, as lines. */
  return (exchange: Exchange) => {
    const { maxBatchBytes, maxBatchLines, requestId, stream } = exchange
    const maxLineBytes = exchange.maxEventBytes + BatchLine.maxKeyBytes
    const longLines = { hold: () => admission.permit() }
    const reader = new LineReader(limited(stream!, maxBatchBytes), maxLineBytes, Infinity, longLines)
    const window = Semaphore.makeUnsafe(maxBytes)
    /** The line that was read last, where that is a long one. */
    let held: Permit | undefined
    let isOver = false

    const stopAt = (number: number, refusal: unknown): Refused => {
      isOver = true
      return { number, bytes: undefined, refusal }
    }

    /** The lines that the next piece completes, and where the body ends too early, what that line is answered. */
    const read = Effect.gen(function* (): Effect.fn.Return<ReadonlyArray<Sent> | undefined> {
      if (isOver) return undefined
      const next = yield* Effect.result(Effect.tryPromise({ try: () => reader.next(), catch: unread }))
      if (Result.isFailure(next)) return [stopAt(reader.number + 1, next.failure)]
      // No piece is so long that another line than the first one could be.
      held = next.success?.[0]?.bytes && next.success[0].held
      const beyond = next.success?.find(({ number }) => number > maxBatchLines)?.number
      if (beyond === undefined) return next.success?.filter(isWritten)
      const within = next.success!.filter((line) => line.number < beyond && isWritten(line))
      return [...within, stopAt(beyond, new PayloadTooLargeError())]
    })

    const begin = Effect.fnUntraced(function* (line: Sent): Effect.fn.Return<UnderWay> {
      const project = yield* CurrentProject
      const permit = (line.bytes && line.held) ?? admission.permit()
      const cost = costOf(line)
      yield* Semaphore.take(window, cost)
      const queueing = Effect.onError(queue(project, line, permit, exchange), () => Effect.sync(permit.release))
      const queued = yield* Effect.exit(queueing)
      const answer = answerErrors(Effect.flatten(queued), requestId)
      return { cost, answer: Effect.flatMap(answer, (answer) => counted(line.number, answer)) }
    })

    /** Room in the window is there again when the client takes answers. */
    const taken = (answers: ReadonlyArray<Answered>) =>
      Effect.as(
        Semaphore.release(
          window,
          answers.reduce((sum, { cost }) => sum + cost, 0)
        ),
        [answers.map(({ text }) => text).join("")] as const
      )

    return Stream.unfold(undefined, () => Effect.map(read, (lines) => lines && ([lines, undefined] as const))).pipe(
      Stream.flatMap((lines) => Stream.fromIterable(lines)),
      Stream.mapEffect(begin),
      Stream.buffer({ capacity: "unbounded" }),
      Stream.mapEffect(({ answer, cost }) => Effect.map(answer, (text) => ({ cost, text }))),
      Stream.buffer({ capacity: "unbounded" }),
      Stream.mapArrayEffect(taken),
      Stream.ensuring(
        Effect.sync(() => {
          reader.close()
          held?.release()
        })
      )
    )
  }
}
