/** Imports a line by its type. */
import { Export, PayloadTooLargeError } from "@tachograph/api"
import { type Imported, type ProjectId, type Recorder, Scan } from "@tachograph/core"
import { Person } from "@tachograph/core/domain/Person"
import { RegisteredFingerprint } from "@tachograph/core/domain/Fingerprint"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { loopBudget } from "../events/LoopBudget.ts"
import { whenThereIsRoom } from "../events/RecordMany.ts"
import { makeVerbatim } from "../events/SentEvent.ts"
import * as JsonBody from "../validation/JsonBody.ts"
import * as EventLine from "./EventLine.ts"
import * as SentText from "./SentText.ts"
import * as StepsLine from "./StepsLine.ts"
import { toFingerprint } from "./FingerprintFields.ts"

/** What a line may be. The last three are of no use here. */
const types = [
  "event",
  "steps",
  "agent",
  "agent-version",
  "person",
  "fingerprint",
  "export",
  "end",
  "more",
  "damaged"
] as const

export type Type = (typeof types)[number]

export const isType = (value: unknown): value is Type => types.includes(value as Type)

/** Says what is wrong with a line of no type. */
const decodeType = JsonBody.decoder(Schema.Struct({ type: Schema.Literals(types) }))

/** In a later format, other lines may mean something else. */
const decodeExport = JsonBody.decoder(Schema.Struct({ format: Schema.optionalKey(Schema.Literals([1])) }))
const decodeAgent = JsonBody.decoder(Export.ImportedAgent)
const decodeVersion = JsonBody.decoder(Export.ImportedAgentVersion)
const decodePerson = JsonBody.decoder(Export.ImportedPerson)
const decodeFingerprint = JsonBody.decoder(Export.ImportedFingerprint)

export type Result = Imported | "ignored" | "failed"

/** A line without the description or the properties is of a name that only events have used. */
const namedOnly = (given: unknown) => (given === undefined ? { isNamedOnly: true } : {})

export const make = (recorder: Recorder["Service"]) => {
  const decodeEvent = makeVerbatim(recorder)
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
      const properties = SentText.of(bytes, Scan.locate(bytes, ["properties"]), value.properties_text)
      if (!SentText.isObject(properties)) return yield* SentText.noObject("properties_text")
      const { created_at: createdAt, person_id: id } = value
      const given = value.properties_text ?? value.properties
      return yield* recorder.importPerson(new Person({ id, properties, createdAt, ...namedOnly(given) }))
    }),
    steps: (line: Buffer) =>
      Effect.flatMap(StepsLine.read(line), ({ checksum, group }) =>
        whenThereIsRoom(recorder.importSteps(group, checksum))
      ),
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

  return importLine
}
