/** An export as lines of JSON. Payloads are spliced in byte for byte. */
import { AgentVersions, Agents, Export, Fingerprints } from "@tachograph/api"
import { checksumOfStepTexts, checksumOfTexts, type Event, type ExportItem, Scan, type Step } from "@tachograph/core"
import * as DateTime from "effect/DateTime"
import * as Schema from "effect/Schema"

/** The version of the lines' shapes. */
const format = 1

/** A part of a line. */
type Part = string | Uint8Array

/** Longer parts are not copied together with others (bytes). */
const longPartBytes = 64 * 1024

const encodeFields = Schema.encodeSync(Export.ExportedFields)
const encodeAgent = Schema.encodeSync(Agents.AgentOnWire)
const encodeVersion = Schema.encodeSync(AgentVersions.AgentVersionOnWire)
const encodeFingerprint = Schema.encodeSync(Fingerprints.FingerprintOnWire)

const lineFeed = 0x0a
const carriageReturn = 0x0d

/** White space between the tokens of a text, which would end its line. Within a string JSON escapes it. */
const isBroken = (text: Uint8Array): boolean => text.includes(lineFeed) || text.includes(carriageReturn)

const utf8 = new TextDecoder()

/** A member of an object: the text as it is, or as a string under another name if it has line breaks. */
const member = (name: string, text: Uint8Array): ReadonlyArray<Part> =>
  isBroken(text) ? [`"${name}_text":${JSON.stringify(utf8.decode(text))}`] : [`"${name}":`, text]

/** Fields that are not null, without the braces around them. */
const membersOf = (fields: Readonly<Record<string, unknown>>): string =>
  JSON.stringify(Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null))).slice(1, -1)

/** Eight hexadecimal digits. */
const hexOf = (checksum: number): string => (checksum >>> 0).toString(16).padStart(8, "0")

/** An export cannot be continued after an event before which others may still appear. */
const unsettled = (isSettled: boolean): string => (isSettled ? "" : `,"settled":false`)

const eventParts = (event: Event, isSettled: boolean): ReadonlyArray<Part> => {
  const { api, event_id, received_at, ...call } = encodeFields(event)
  const { inputs, output } = event.payload
  const metadata = event.metadata === null ? [] : [",", ...member("metadata", Buffer.from(event.metadata))]
  const checksum = hexOf(checksumOfTexts(inputs, output, event.metadata))
  return [
    `{"type":"event","event_id":"${event_id}"${unsettled(isSettled)},"received_at":"${received_at}",`,
    `"checksum":"${checksum}","event_name":"llm",${membersOf(call)},"properties":{"api":"${api}",`,
    ...member("inputs", inputs),
    ",",
    ...member("output", output),
    "}",
    ...metadata,
    "}\n"
  ]
}

/** The attributes are last in the text of a step. */
const stepText = (step: Step): string => {
  const text = Buffer.from(step.text)
  const own = { trace_id: step.traceId, span_id: step.spanId, occurred_at: DateTime.formatIso(step.occurredAt) }
  const { end, start } = Scan.locate(text, ["attributes"])!
  const fields = text.toString("utf8", 1, text.lastIndexOf(attributesKey, start))
  const attributes = member("attributes", text.subarray(start, end)).map(textOfPart).join("")
  return `${JSON.stringify(own).slice(0, -1)},${fields}${attributes}}`
}

const attributesKey = '"attributes":'

const textOfPart = (part: Part): string => (typeof part === "string" ? part : utf8.decode(part))

const stepParts = (steps: ReadonlyArray<Step>): ReadonlyArray<Part> => {
  const [{ agent, agentVersion, person, receivedAt, session }] = steps as readonly [Step]
  const checksum = hexOf(checksumOfStepTexts(steps.map(({ text }) => text)))
  const times = { received_at: DateTime.formatIso(receivedAt), checksum }
  const fields = membersOf({ type: "steps", ...times, session, agent, agent_version: agentVersion, person })
  return [`{${fields},"steps":[${steps.map(stepText).join(",")}]}\n`]
}

/** Leaves the description of a name out that only events have used: where it is imported, it may be given one as here. */
const withoutDescription = ({ isNamedOnly = false }: { readonly isNamedOnly?: boolean }) =>
  isNamedOnly ? { description: undefined } : {}

const line = (fields: Readonly<Record<string, unknown>>): string => `${JSON.stringify(fields)}\n`

type Parts = {
  readonly [Type in ExportItem["type"]]: (item: Extract<ExportItem, { type: Type }>) => ReadonlyArray<Part>
}

const parts: Parts = {
  export: ({ type }) => [line({ type, format })],
  agent: ({ agent, type }) => {
    // Numbers are given anew where it is imported, in the order of the lines.
    const { agent_number: _, ...fields } = encodeAgent(agent)
    return [line({ type, ...fields, ...withoutDescription(agent) })]
  },
  "agent-version": ({ agent, type, version }) => {
    const { agent_version_number: _, ...fields } = encodeVersion(version)
    return [line({ type, agent_name: agent, ...fields, ...withoutDescription(version) })]
  },
  person: ({ person: { createdAt, id, isNamedOnly, properties }, type }) => {
    const fields = { type, person_id: id, created_at: DateTime.formatIso(createdAt) }
    if (isNamedOnly === true) return [line(fields)]
    return [`${JSON.stringify(fields).slice(0, -1)},`, ...member("properties", Buffer.from(properties)), "}\n"]
  },
  fingerprint: ({ fingerprint, type }) => [line({ type, ...encodeFingerprint(fingerprint) })],
  event: ({ event, isSettled }) => eventParts(event, isSettled),
  steps: ({ steps }) => stepParts(steps),
  damaged: ({ id, isSettled, type }) => [line({ type, event_id: id, ...(isSettled ? {} : { settled: false }) })],
  end: ({ damaged, damagedSteps, events, isWhole, after, type }) => {
    const ofSteps = damagedSteps === 0 ? {} : { damaged_steps: damagedSteps }
    return [line({ type: isWhole ? type : "more", events, damaged, ...ofSteps, after_event: after ?? null })]
  }
}

const partsOf = <Type extends ExportItem["type"]>(item: Extract<ExportItem, { type: Type }>): ReadonlyArray<Part> =>
  (parts[item.type] as (item: ExportItem) => ReadonlyArray<Part>)(item)

/** The lines of these items, in few parts. */
export const of = (items: ReadonlyArray<ExportItem>): ReadonlyArray<Uint8Array> => {
  const joined: Array<Uint8Array> = []
  let short: Array<Uint8Array> = []
  const flush = () => {
    if (short.length > 0) joined.push(Buffer.concat(short))
    short = []
  }
  for (const part of items.flatMap(partsOf)) {
    const bytes = typeof part === "string" ? Buffer.from(part) : part
    if (bytes.length < longPartBytes) short.push(bytes)
    else {
      flush()
      joined.push(bytes)
    }
  }
  flush()
  return joined
}
