/** Real calls and streams, which a clone does not contain. Where they are missing, one line of output says so. */
import type { Api } from "@tachograph/formats"
import { existsSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

const folder = fileURLToPath(new URL("../../../../shared/workloads", import.meta.url))

export const areThere = existsSync(folder)

if (!areThere)
  console.info("Formats: the recorded calls and streams are not there; only the project's own data is read.")

/** One line of `calls.ndjson`. */
export interface Call {
  readonly source: string
  readonly api: Api
  readonly inputs: unknown
  readonly output: unknown
}

/** One line of `streams.ndjson`. */
export interface Stream {
  readonly source: string
  readonly api: Api
  readonly kind: string
  readonly request: unknown
  readonly response: unknown
  /** Path and query of the call; null where there was none. */
  readonly url_path: string | null
  /** The body as it came over the wire. */
  readonly stream: string | null
  /** Payloads, where the source has no wire text. */
  readonly chunks?: ReadonlyArray<unknown>
  readonly events?: ReadonlyArray<{ readonly event: string; readonly data: unknown }>
}

const readLines = <A>(file: string): ReadonlyArray<A> =>
  areThere
    ? readFileSync(`${folder}/${file}`, "utf8")
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line) as A)
    : []

const calls = readLines<Call>("calls.ndjson")
const streams = readLines<Stream>("streams.ndjson")

/** Each request and answer of some formats, streamed or not. */
export const answersOf = (...apis: ReadonlyArray<Api>): ReadonlyArray<Call> =>
  [
    ...calls,
    ...streams.map(({ source, api, request, response }) => ({ source, api, inputs: request, output: response }))
  ].filter(({ api }) => apis.includes(api))

export const streamsOf = (...apis: ReadonlyArray<Api>): ReadonlyArray<Stream> =>
  streams.filter(({ api }) => apis.includes(api))

/** An agent's run: its messages, each answer with the output of the call that gave it. */
export const readRuns = (file: "coding-run.json" | "airline-runs.ndjson"): ReadonlyArray<Record<string, unknown>> =>
  readLines(file)

/** Every string of at least 20 characters in a value, however deep. */
export const longStrings = (value: unknown): ReadonlyArray<string> => {
  const found: Array<string> = []
  const open = [value]
  while (open.length > 0) {
    const next = open.pop()
    if (typeof next === "string" && next.length >= 20) found.push(next)
    if (typeof next === "object" && next !== null) for (const item of Object.values(next)) open.push(item)
  }
  return found
}
