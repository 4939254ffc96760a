/**
 * `otlp`: sends random posts of OpenTelemetry, whole ones and damaged ones, as JSON and as protobuf. Each is answered 200 or 400 as OTLP says; a
 * 400 keeps nothing, a 200 every call that is one.
 */
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire"
import { createTachograph, type Tachograph } from "@tachograph/router"
import { sqlite } from "@tachograph/storage-sqlite"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { DatabaseSync } from "node:sqlite"
import { setTimeout as wait } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import * as Random from "../harness/Random.ts"
import type { SqliteStore } from "../harness/Store.ts"
import * as Mutations from "./otlp/Mutations.ts"
import * as Posts from "./otlp/Posts.ts"
import * as Wire from "./otlp/Wire.ts"
import { Tally } from "./Tally.ts"

export interface Options {
  readonly seed: number
  /** The first round, from 1. */
  readonly from: number
  /** One post each. */
  readonly rounds: number
  /** Called before each round. */
  readonly progress: (round: number, tally: Tally) => void
}

/** The counts that the table has. */
export const counted = [
  "rounds",
  "bytes",
  "200",
  "400",
  "whole calls",
  "events",
  "heap before (KiB)",
  "heap after (KiB)"
]

const key = "a-key-of-at-least-20-characters"
const authorization = `Bearer ${key}`

/** Rounds after which all that waits is finished. */
const finishEvery = 500

/** How long it waits, and how long it may take until it is finished (ms). */
const waitMs = 1_000
const finishMs = 60_000
const lookMs = 50

/** Rounds after which the heap has what it keeps. */
const warmRounds = 2_000

/** Posts of real instrumentation, which a clone does not contain. */
const folder = fileURLToPath(new URL("../../../../../shared/otlp/", import.meta.url))

const corpus = (): ReadonlyArray<Posts.Post> =>
  (existsSync(folder) ? readdirSync(folder, { recursive: true, encoding: "utf8" }) : [])
    .toSorted()
    .filter((file) => /-(?:traces|logs)\.json$/.test(file))
    .map((file) => ({
      signal: file.includes("-logs") ? "logs" : "traces",
      value: JSON.parse(readFileSync(folder + file, "utf8")) as Posts.Json,
      calls: []
    }))

interface Sent extends Posts.Post {
  readonly encoding: "json" | "protobuf"
  readonly body: Uint8Array<ArrayBuffer>
}

/** A post whose bytes are changed promises no call. */
const draw = (known: ReadonlyArray<Posts.Post>, random: Random.Random): Sent => {
  // Those of the corpus are longer, so that they are rarer.
  const isKnown = known.length > 0 && random(0, 29) === 0
  const post = isKnown ? Posts.oneOf(random, known) : Posts.generated(random)
  const kind = random(0, 5)
  const value = kind < 2 ? post.value : Mutations.ofValue(post.value, random, random(1, 4))
  const isJson = random(0, 1) === 0
  const text = isJson ? JSON.stringify(value) : ""
  const written = isJson
    ? Buffer.from(kind === 3 ? Mutations.ofText(text, random) : text)
    : Wire.encode(value, random, kind === 3 ? 40 : 0)
  const body = kind < 4 ? written : Mutations.ofBytes(written, random, random(1, 4))
  return {
    ...post,
    calls: kind < 2 ? post.calls : [],
    encoding: isJson ? "json" : "protobuf",
    body: new Uint8Array(body)
  }
}

/** The fields of a protobuf message by their numbers. */
const fieldsOf = (message: Uint8Array): ReadonlyMap<number, unknown> => {
  const fields = new Map<number, unknown>()
  const reader = new BinaryReader(message)
  while (reader.pos < reader.len) {
    const [number, type] = reader.tag()
    if (type !== WireType.Varint && type !== WireType.LengthDelimited) throw new Error("another type of field")
    fields.set(number, type === WireType.Varint ? Number(reader.int64()) : Buffer.from(reader.bytes()))
  }
  return fields
}

const known = (names: ReadonlyArray<string>, value: object): boolean =>
  Object.keys(value).every((name) => names.includes(name))

/** Whether an answer is one of OTLP: a response that may have a partial success, or a status with a message. */
const isAnswer = (status: number, encoding: Sent["encoding"], bytes: Buffer): boolean => {
  if (encoding === "json") {
    const value = JSON.parse(bytes.toString()) as { readonly partialSuccess?: object; readonly message?: unknown }
    if (status === 400) return known(["code", "message"], value) && typeof value.message === "string"
    const names = ["rejectedSpans", "rejectedLogRecords", "errorMessage"]
    return known(["partialSuccess"], value) && known(names, value.partialSuccess ?? {})
  }
  const fields = fieldsOf(bytes)
  if (status === 400) return fields.get(1) === 3 && String(fields.get(2)).length > 0
  const partial = fields.get(1)
  return fields.size === 0 || (fields.size === 1 && [...fieldsOf(partial as Buffer).keys()].join() === "1,2")
}

interface Target {
  readonly tachograph: Tachograph
  readonly database: DatabaseSync
  readonly problems: Array<string>
}

const rowsOf = (database: DatabaseSync, ...tables: ReadonlyArray<string>): number =>
  tables.reduce(
    (sum, table) => sum + (database.prepare(`SELECT count(*) AS n FROM ${table}`).get() as { n: number }).n,
    0
  )

const ask = (tachograph: Tachograph, path: string, init: RequestInit = {}) =>
  tachograph.fetch(
    new Request(`http://127.0.0.1${path}`, { ...init, headers: { authorization, ...(init.headers as object) } })
  )

const runRound = async ({ database, problems, tachograph }: Target, sent: Sent, tally: Tally, isCounted: boolean) => {
  const wrongs: Array<string> = []
  const rows = () => (isCounted ? rowsOf(database, "events", "waiting_parts", "steps") : 0)
  const before = rows()
  const answer = await ask(tachograph, `/otlp/v1/${sent.signal}`, {
    method: "POST",
    body: sent.body,
    headers: { "content-type": sent.encoding === "json" ? "application/json" : "application/x-protobuf" }
  })
  const bytes = Buffer.from(await answer.arrayBuffer())
  const { status } = answer
  tally.count("rounds")
  tally.count("bytes", sent.body.length)
  tally.count(String(status))
  const shown = () => `${status} ${bytes.toString("latin1").slice(0, 300)}`
  if (status !== 200 && status !== 400) wrongs.push(`answered ${shown()}`)
  else {
    try {
      if (!isAnswer(status, sent.encoding, bytes)) wrongs.push(`no answer of OTLP: ${shown()}`)
    } catch (error) {
      wrongs.push(`no answer of OTLP: ${shown()}: ${String(error)}`)
    }
  }
  // What is finished meanwhile is there twice for a moment.
  for (let tries = 100; status === 400 && isCounted && rows() > before && tries > 0; tries--) await wait(lookMs)
  if (status === 400 && isCounted && rows() > before) wrongs.push("a post that was refused is kept")
  if (status === 400 && sent.calls.length > 0) wrongs.push(`a post that is none of these was refused: ${shown()}`)
  for (const { spanId, traceId } of status === 200 ? sent.calls : []) {
    tally.count("whole calls")
    const list = await (await ask(tachograph, `/api/v1/events?trace_id=${traceId}`)).text()
    if (list.split(`"span_id":"${spanId}"`).length !== 2) wrongs.push(`a call is not there once: ${list.slice(0, 300)}`)
  }
  return [...wrongs, ...problems.splice(0)]
}

/** Waits until all is finished that waits. */
const finish = async ({ database, problems }: Target): Promise<ReadonlyArray<string>> => {
  const left = () => rowsOf(database, "waiting_parts")
  for (let tries = finishMs / lookMs; tries > 0 && left() > 0; tries--) await wait(lookMs)
  return [...(left() === 0 ? [] : [`${left()} parts still wait`]), ...problems.splice(0)]
}

setFlagsFromString("--expose-gc")
const collectGarbage = runInNewContext("gc") as () => void

const heapKib = (): number => {
  collectGarbage()
  return Math.round(process.memoryUsage().heapUsed / 1024)
}

export const run = async (store: SqliteStore, { from, progress, rounds, seed }: Options): Promise<Tally> => {
  const tally = new Tally()
  const problems: Array<string> = []
  const logger = Logger.make(({ cause, logLevel, message }) => {
    if (!["Info", "Debug", "Trace"].includes(logLevel))
      problems.push(`logged ${logLevel}: ${String(message)} ${String(cause)}`)
  })
  const tachograph = await createTachograph({
    storage: Layer.merge(sqlite(store.file), Logger.layer([logger])),
    apiKeys: [key],
    otlpWaitMs: waitMs,
    thread: false,
    viewer: false
  })
  const database = new DatabaseSync(store.file, { readOnly: true })
  const target = { tachograph, database, problems }
  const posts = corpus()
  const last = from + rounds - 1
  for (let round = from; round <= last; round++) {
    progress(round, tally)
    const sent = draw(posts, Random.of(seed, "otlp", round))
    for (const text of await runRound(target, sent, tally, rounds <= 1_000 || round % 20 === 0))
      tally.addWrong(round, text)
    if (round % finishEvery === 0 || round === last) {
      for (const text of await finish(target)) tally.addWrong(round, text)
    }
    if (round - from === Math.min(warmRounds, rounds) - 1) tally.count("heap before (KiB)", heapKib())
  }
  if (({} as { polluted?: unknown }).polluted !== undefined)
    tally.addWrong(last, "the prototype of all objects was changed")
  tally.count("heap after (KiB)", heapKib())
  tally.count("events", rowsOf(database, "events"))
  database.close()
  await tachograph.close()
  return tally
}
