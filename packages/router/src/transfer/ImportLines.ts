/** Imports lines, and answers each. A line that is refused changes nothing, and the next ones are imported all the same. */
import { CurrentProject, type Errors, type ProjectId, type Recorder, Scan } from "@tachograph/core"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { Exchange } from "../Engine.ts"
import { outcomeOf, recordMany } from "../events/RecordMany.ts"
import type { BodyStream } from "../response/BodyStream.ts"
import * as LineImport from "./LineImport.ts"
import { type Line, LineReader, OneAtATime } from "./LineReader.ts"

/** How long a line may be, by the length of the body (bytes) that it stands for: a text in a string has escapes. */
const maxLineBytes = (bodyBytes: number) => 2 * bodyBytes + 64 * 1024

interface LineAnswer {
  readonly line: number
  readonly type: LineImport.Type | null
  readonly event_id?: string
  readonly result: LineImport.Result
  /** The JSON text of the error. */
  readonly error?: string
}

const textOf = ({ error, ...fields }: LineAnswer): string => {
  const text = JSON.stringify(fields)
  return error === undefined ? `${text}\n` : `${text.slice(0, -1)},"error":${error}}\n`
}

/** The string at a member; undefined where there is none, or the line is no object. Parses no other value, of any length. */
const stringAt = (line: Buffer, name: string): string | undefined => {
  try {
    const span = Scan.locate(line, [name])
    if (span === undefined || line[span.start] !== Scan.quote) return undefined
    return JSON.parse(line.toString("utf8", span.start, span.end)) as string
  } catch {
    return undefined
  }
}

type Limits = Pick<Exchange, "maxEventBytes" | "maxOtherBytes">

export const make = (recorder: Recorder["Service"]) => {
  const longLines = new OneAtATime()
  const importLine = LineImport.make(recorder)

  /** Fails where the storage does, which ends the import. */
  const answer = Effect.fnUntraced(function* (
    project: ProjectId,
    line: Line,
    maxOtherBytes: number
  ): Effect.fn.Return<LineAnswer, Errors.StorageUnavailable> {
    const { bytes, number } = line
    const sentType = bytes && stringAt(bytes, "type")
    const type = LineImport.isType(sentType) ? sentType : undefined
    const id = bytes && type === "event" ? stringAt(bytes, "event_id") : undefined
    const imported: Effect.Effect<LineImport.Result, unknown> =
      line.bytes === undefined ? Effect.fail(line.refusal) : importLine(project, line.bytes, type, maxOtherBytes)
    const common = { line: number, type: type ?? null, ...(typeof id === "string" && { event_id: id }) }
    const outcome = yield* outcomeOf(imported)
    return { ...common, ...("error" in outcome ? { result: "failed", error: outcome.error } : outcome) }
  })

  /** Events at a time, what they may name before them, and steps after the events. */
  const answerAll = Effect.fnUntraced(function* (
    project: ProjectId,
    lines: ReadonlyArray<Line>,
    maxOtherBytes: number
  ) {
    const answers: Array<LineAnswer> = []
    const waiting = { event: new Array<Line>(), steps: new Array<Line>() }
    const flush = Effect.fnUntraced(function* () {
      for (const some of [waiting.event, waiting.steps]) {
        answers.push(...(yield* recordMany(some.splice(0), (line) => answer(project, line, maxOtherBytes))))
      }
    })
    for (const line of lines) {
      const type = line.bytes && stringAt(line.bytes, "type")
      if (type === "event" || type === "steps") {
        waiting[type].push(line)
        continue
      }
      yield* flush()
      answers.push(yield* answer(project, line, maxOtherBytes))
    }
    yield* flush()
    return answers.sort((a, b) => a.line - b.line)
  })

  /**
   * The answers to the lines of a body, as lines: all of them, or those that failed. The last line counts them, and says if the body
   * could not be read to its end.
   */
  return (body: BodyStream, limits: Limits, isEach: boolean): Stream.Stream<string, unknown> => {
    const maxOtherBytes = maxLineBytes(limits.maxOtherBytes)
    const maxBytes = Math.max(maxLineBytes(limits.maxEventBytes), maxOtherBytes)
    // Compressed, the rest of a line may be of any length.
    const reader = new LineReader(body, maxBytes, 2 * maxBytes, longLines)
    const counted: Record<LineImport.Result, number> = { imported: 0, exists: 0, kept: 0, ignored: 0, failed: 0 }
    let lines = 0
    let lastLine = 0
    let isCut = false
    const next = Effect.gen(function* () {
      const project = yield* CurrentProject
      const { value: read } = yield* Effect.orElseSucceed(
        Effect.map(
          Effect.tryPromise(() => reader.next()),
          (value) => ({ value })
        ),
        () => {
          isCut = true
          return { value: undefined }
        }
      )
      if (read === undefined) return undefined
      const answers = yield* Effect.ensuring(
        answerAll(project, read, maxOtherBytes),
        Effect.sync(() => read.forEach((line) => line.bytes && line.held?.release()))
      )
      lines += answers.length
      lastLine = read.at(-1)?.number ?? lastLine
      for (const { result } of answers) counted[result]++
      const said = isEach ? answers : answers.filter(({ result }) => result === "failed")
      return said.map(textOf).join("")
    })
    return Stream.unfold(undefined, () =>
      Effect.map(next, (text) => (text === undefined ? undefined : ([text, undefined] as const)))
    ).pipe(
      Stream.filter((text) => text !== ""),
      Stream.concat(
        Stream.sync(() => {
          const end = isCut ? { type: "cut", after_line: lastLine } : { type: "end" }
          return `${JSON.stringify({ ...end, lines, ...counted })}\n`
        })
      ),
      Stream.ensuring(Effect.sync(() => reader.close()))
    )
  }
}
