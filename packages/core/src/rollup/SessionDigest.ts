/**
 * The figures of successive sessions in a few bytes each, so that all sessions can be looked at without reading their rows. First the
 * models, each once; then the parts of the sessions, in the order of the sessions' numbers, as variable-length integers.
 */
import { ByteReader, ByteWriter, toBuffer } from "../payload/format/Bytes.ts"
import type { SessionFigures } from "./SessionFigures.ts"

/** Sessions of a digest. Stored digests have as many: it may not change. */
export const sessionsOf = 256

/** The number of the digest that a session is in. */
export const numberOf = (session: number): number => Math.floor(session / sessionsOf)

const nanosOfDollar = 1_000_000_000

const writePart = (writer: ByteWriter, part: SessionFigures, earliestMs: number, modelOf: (name: string) => number) => {
  const { agent, agentVersion, api, cost, firstMs, lastMs, model, peaks, person, responseModel, session } = part
  writer.integer(session % sessionsOf)
  for (const number of [agent, agentVersion, person, api, modelOf(model), modelOf(responseModel)]) {
    writer.integer(number)
  }
  writer.integer(firstMs - earliestMs)
  writer.integer(lastMs - firstMs)
  for (const count of [part.events, part.errors, part.tokens, part.unpriced, part.partlyPriced]) writer.integer(count)
  writer.integer(Math.floor(cost / nanosOfDollar))
  writer.integer(cost % nanosOfDollar)
  for (const peak of [peaks.durationMs, peaks.cost, peaks.tokens]) writer.integer(peak)
}

const readPart = (
  reader: ByteReader,
  number: number,
  earliestMs: number,
  models: ReadonlyArray<string>
): SessionFigures => {
  const session = number * sessionsOf + reader.integer()
  const agent = reader.integer()
  const agentVersion = reader.integer()
  const person = reader.integer()
  const api = reader.integer()
  const model = models[reader.integer()] ?? ""
  const responseModel = models[reader.integer()] ?? ""
  const firstMs = earliestMs + reader.integer()
  const lastMs = firstMs + reader.integer()
  const events = reader.integer()
  const errors = reader.integer()
  const tokens = reader.integer()
  const unpriced = reader.integer()
  const partlyPriced = reader.integer()
  const cost = reader.integer() * nanosOfDollar + reader.integer()
  const peaks = { durationMs: reader.integer(), cost: reader.integer(), tokens: reader.integer() }
  // One literal, without spreads: 100,000s of them are read at once.
  return {
    session,
    agent,
    agentVersion,
    person,
    api,
    model,
    responseModel,
    firstMs,
    lastMs,
    events,
    errors,
    tokens,
    unpriced,
    partlyPriced,
    cost,
    peaks
  }
}

/** `parts` are of the sessions of one digest. */
export const write = (parts: ReadonlyArray<SessionFigures>): Uint8Array => {
  const writer = new ByteWriter()
  const models = Array.from(new Set(parts.flatMap(({ model, responseModel }) => [model, responseModel])))
  const places = new Map(models.map((model, index) => [model, index]))
  writer.integer(models.length)
  for (const model of models) {
    const bytes = Buffer.from(model)
    writer.integer(bytes.length)
    writer.bytes(bytes)
  }
  const earliestMs = parts.reduce((earliest, { firstMs }) => Math.min(earliest, firstMs), Number.MAX_SAFE_INTEGER)
  writer.integer(earliestMs)
  for (const part of parts.toSorted((a, b) => a.session - b.session)) {
    writePart(writer, part, earliestMs, (name) => places.get(name)!)
  }
  return Uint8Array.from(writer.view())
}

/** The parts in the order of their sessions. Throws `Damage` if the bytes are not what was written. */
export const read = (number: number, bytes: Uint8Array): ReadonlyArray<SessionFigures> => {
  const reader = new ByteReader(toBuffer(bytes))
  const models = Array.from({ length: reader.integer() }, () => reader.bytes(reader.integer()).toString())
  const earliestMs = reader.integer()
  const parts: Array<SessionFigures> = []
  while (reader.at < reader.source.length) parts.push(readPart(reader, number, earliestMs, models))
  return parts
}

/** Numbers of digests. */
export const writeNumbers = (numbers: ReadonlyArray<number>): Uint8Array => {
  const writer = new ByteWriter(64)
  for (const number of numbers) writer.integer(number)
  return Uint8Array.from(writer.view())
}

export const readNumbers = (bytes: Uint8Array): ReadonlyArray<number> => {
  const reader = new ByteReader(toBuffer(bytes))
  const numbers: Array<number> = []
  while (reader.at < reader.source.length) numbers.push(reader.integer())
  return numbers
}
