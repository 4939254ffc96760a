/** Imports lines, and answers each. A line that is refused changes nothing, and the next ones are imported all the same. */
import { Export, PayloadTooLargeError, ValidationFailure } from "@tachograph/api"
import {
  CurrentProject,
  type Errors,
  type Imported,
  JsonText,
  type ProjectId,
  type Recorder,
  Scan
} from "@tachograph/core"
import { Person } from "@tachograph/core/domain/Person"
import { RegisteredFingerprint } from "@tachograph/core/domain/Fingerprint"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type { Exchange } from "../Engine.ts"
import { makeDecoder } from "../events/CreateEvent.ts"
import { loopBudget } from "../events/LoopBudget.ts"
import { outcomeOf, recordMany, whenThereIsRoom } from "../events/RecordMany.ts"
import type { BodyStream } from "../response/BodyStream.ts"
import * as JsonBody from "../validation/JsonBody.ts"
import * as EventLine from "./EventLine.ts"
import { toFingerprint } from "./FingerprintFields.ts"
import { type Line, LineReader, LongLines } from "./LineReader.ts"

/** How long a line may be, by the length of the body (bytes) that it stands for: a text in a string has escapes. */
const maxLineBytes = (bodyBytes: number) => 2 * bodyBytes + 64 * 1024

/** What a line may be. The last three are of no use here. */
const types = ["event", "agent", "agent-version", "person", "fingerprint", "export", "end", "more", "damaged"] as const

type Type = (typeof types)[number]

const isType = (value: unknown): value is Type => types.includes(value as Type)

/** Says what is wrong with a line of no type. */
const decodeType = JsonBody.decoder(Schema.Struct({ type: Schema.Literals(types) }))

/** In a later format, other lines may mean something else. */
const decodeExport = JsonBody.decoder(Schema.Struct({ format: Schema.optionalKey(Schema.Literals([1])) }))
const decodeAgent = JsonBody.decoder(Export.ImportedAgent)
const decodeVersion = JsonBody.decoder(Export.ImportedAgentVersion)
const decodePerson = JsonBody.decoder(Export.ImportedPerson)
const decodeFingerprint = JsonBody.decoder(Export.ImportedFingerprint)

type Result = Imported | "ignored" | "failed"

interface LineAnswer {
  readonly line: number
  readonly type: Type | null
  readonly event_id?: string
  readonly result: Result
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

/** The properties as they were sent. */
const propertiesIn = (line: Buffer, text: string | null | undefined): JsonText.JsonText => {
  if (typeof text === "string") return JsonText.unsafe(text)
  const span = Scan.locate(line, ["properties"])
  const properties = span === undefined ? "null" : line.toString("utf8", span.start, span.end)
  return JsonText.unsafe(properties === "null" ? "{}" : properties)
}

/** A line without the description or the properties is of a name that only events have used. */
const namedOnly = (given: unknown) => (given === undefined ? { isNamedOnly: true } : {})

const isObjectText = (text: string): boolean => {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === "object" && value !== null && !Array.isArray(value)
  } catch {
    return false
  }
}

type Limits = Pick<Exchange, "maxEventBytes" | "maxOtherBytes">

export const make = (recorder: Recorder["Service"]) => {
  const decodeEvent = makeDecoder(recorder)
  const longLines = new LongLines()
  const readEvent = EventLine.makeReader((steps) => loopBudget.runSteps(steps))

  const importEvent = Effect.fnUntraced(function* (project: ProjectId, { body, given }: EventLine.EventLine) {
    const { event } = yield* decodeEvent(project, { bytes: body, isJson: true })
    const checksum = given.checksum === undefined ? undefined : Number.parseInt(given.checksum, 16)
    return yield* recorder.importEvent(event, { id: given.event_id, receivedAt: given.received_at }, checksum)
  })

  const importers = {
    export: (line: Buffer) => Effect.as(decodeExport({ bytes: line, isJson: true }), "ignored" as const),
    event: (line: Buffer, project: ProjectId) =>
      Effect.flatMap(readEvent(line), (read) => whenThereIsRoom(importEvent(project, read))),
    agent: Effect.fnUntraced(function* (line: Buffer) {
      const { value } = yield* decodeAgent({ bytes: line, isJson: true })
      const { agent_name: name, created_at: createdAt, description } = value
      const agent = { name, description: description ?? "", createdAt, ...namedOnly(description) }
      return yield* recorder.importAgent(agent)
    }),
    "agent-version": Effect.fnUntraced(function* (line: Buffer) {
      const { value } = yield* decodeVersion({ bytes: line, isJson: true })
      const { agent_name, agent_version_name: name, created_at: createdAt, deprecated_at, description } = value
      const times = { createdAt, deprecatedAt: deprecated_at ?? null }
      const version = { name, description: description ?? null, ...times, ...namedOnly(description) }
      return yield* recorder.importAgentVersion(agent_name, version)
    }),
    person: Effect.fnUntraced(function* (line: Buffer) {
      const { bytes, value } = yield* decodePerson({ bytes: line, isJson: true })
      const properties = propertiesIn(bytes, value.properties_text)
      if (!isObjectText(properties)) return yield* new ValidationFailure({ detail: [noObject] })
      const { created_at: createdAt, person_id: id } = value
      const given = value.properties_text ?? value.properties
      return yield* recorder.importPerson(new Person({ id, properties, createdAt, ...namedOnly(given) }))
    }),
    fingerprint: Effect.fnUntraced(function* (line: Buffer) {
      const { value } = yield* decodeFingerprint({ bytes: line, isJson: true })
      const fields = { ...toFingerprint(value), id: value.fingerprint_id, createdAt: value.created_at }
      return yield* recorder.importFingerprint(new RegisteredFingerprint(fields))
    })
  }

  const importLine = (
    project: ProjectId,
    bytes: Buffer,
    type: Type | undefined,
    maxOtherBytes: number
  ): Effect.Effect<Result, unknown> => {
    if (type !== "event" && bytes.length > maxOtherBytes) return Effect.fail(new PayloadTooLargeError())
    if (type === undefined) {
      // It may be written in a way that only parsing finds, as with escapes.
      return Effect.flatMap(decodeType({ bytes, isJson: true }), ({ value }) =>
        importLine(project, bytes, value.type, maxOtherBytes)
      )
    }
    return type in importers
      ? importers[type as keyof typeof importers](bytes, project)
      : Effect.succeed("ignored" as const)
  }

  /** Fails where the storage does, which ends the import. */
  const answer = Effect.fnUntraced(function* (
    project: ProjectId,
    { bytes, number }: Line,
    maxOtherBytes: number
  ): Effect.fn.Return<LineAnswer, Errors.StorageUnavailable> {
    const sentType = bytes && stringAt(bytes, "type")
    const type = isType(sentType) ? sentType : undefined
    const id = bytes && type === "event" ? stringAt(bytes, "event_id") : undefined
    const imported: Effect.Effect<Result, unknown> =
      bytes === undefined ? Effect.fail(new PayloadTooLargeError()) : importLine(project, bytes, type, maxOtherBytes)
    const common = { line: number, type: type ?? null, ...(typeof id === "string" && { event_id: id }) }
    const outcome = yield* outcomeOf(imported)
    return { ...common, ...("error" in outcome ? { result: "failed", error: outcome.error } : outcome) }
  })

  /** Events at a time, and what they may name before them. */
  const answerAll = Effect.fnUntraced(function* (
    project: ProjectId,
    lines: ReadonlyArray<Line>,
    maxOtherBytes: number
  ) {
    const answers: Array<LineAnswer> = []
    let events: Array<Line> = []
    const flush = Effect.suspend(() => {
      const some = events
      events = []
      return Effect.map(
        recordMany(some, (line) => answer(project, line, maxOtherBytes)),
        (own) => void answers.push(...own)
      )
    })
    for (const line of lines) {
      if (line.bytes !== undefined && stringAt(line.bytes, "type") === "event") {
        events.push(line)
        continue
      }
      yield* flush
      answers.push(yield* answer(project, line, maxOtherBytes))
    }
    yield* flush
    return answers
  })

  /**
   * The answers to the lines of a body, as lines: all of them, or those that failed. The last line counts them, and says if the body
   * could not be read to its end.
   */
  return (body: BodyStream, limits: Limits, isEach: boolean): Stream.Stream<string, unknown> => {
    const maxOtherBytes = maxLineBytes(limits.maxOtherBytes)
    const reader = new LineReader(body, Math.max(maxLineBytes(limits.maxEventBytes), maxOtherBytes), longLines)
    const counted: Record<Result, number> = { imported: 0, exists: 0, kept: 0, ignored: 0, failed: 0 }
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
      const answers = yield* answerAll(project, read, maxOtherBytes)
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

const noObject = {
  type: "dict_type",
  loc: ["body", "properties_text"],
  msg: "Input should be the text of a valid dictionary",
  input: {}
}
