/** The options of a recorder. */
import * as Patterns from "@tachograph/capture/masking/Patterns"
import { hint } from "@tachograph/capture/Spelling"
import { checkKey, checkUrl } from "./api/Access.ts"
import type { Drop } from "./delivery/Counters.ts"
import type { EmbeddedTachograph } from "./delivery/EmbeddedTransport.ts"
import { type Grouping, isObject, type RecordedEvent } from "./event/Event.ts"
import type { FingerprintFields } from "./fingerprint/Fingerprint.ts"
import type { PackageScope } from "./fingerprint/Packages.ts"

interface CommonOptions extends Grouping {
  /** Fields of the fingerprint that replace those that are found. */
  readonly fingerprint?: Partial<FingerprintFields> | undefined
  /** Which installed packages the fingerprint names: the direct dependencies, all, or none. `direct` by default. */
  readonly packages?: PackageScope | undefined
  /**
   * The text of a list of patterns, one regular expression a line, whose matches are masked before an event is kept anywhere; the rest stays
   * byte for byte what it was. Or what changes an event: one for which it answers nothing, or throws, is not recorded, and its payload is
   * written anew from the values that it returns, so that blanks are lost, and numbers that JavaScript cannot hold are rounded.
   */
  readonly redact?: string | ((event: RecordedEvent) => RecordedEvent | null | undefined) | undefined
  /** Called for each call that is not recorded. By default, the first call that is lost for a reason prints a warning. */
  readonly onDrop?: ((drop: Drop) => void) | undefined
  /** Keeps a serverless function alive until a promise settles. It gets one for each call. */
  readonly waitUntil?: ((promise: Promise<unknown>) => void) | undefined
  /** How many events may wait or be under way. 10,000 by default. With a spool, more wait on disk. */
  readonly maxEvents?: number | undefined
  /** How many bytes waiting events and the calls under way may hold in memory. 64 MiB by default. */
  readonly maxBytes?: number | undefined
  /** The longest event in bytes. 32 MiB by default, as the server accepts unless it is configured otherwise. */
  readonly maxEventBytes?: number | undefined
  /** How many requests with events are under way at once. 8 by default. What waits for them is sent together. */
  readonly concurrency?: number | undefined
  /** How long an answer may lie unread before it is recorded as far as it came, in ms. 10 minutes by default. */
  readonly unreadMs?: number | undefined
  /** How long a process that ends waits for events, in ms. 5 s by default; 0 leaves its end alone, and only counts. */
  readonly exitMs?: number | undefined
  /**
   * A folder in which events wait until they are sent, so that they survive a crash and are sent by the next process that uses
   * it. For Node, Bun and Deno.
   */
  readonly spool?: string | undefined
  /** How many bytes the folder may hold. 1 GiB by default. */
  readonly maxSpoolBytes?: number | undefined
  /**
   * The `fetch` below the tap, by which the recorder sends its events too. By default the global one, as it is when the recorder is
   * created.
   */
  readonly fetch?: typeof globalThis.fetch | undefined
}

interface OverHttp {
  /** The server, such as `http://127.0.0.1:4400`. Without it, as where a variable is not set, nothing is recorded. */
  readonly url?: string | undefined
  /** A key with the scope `record`. Without it, nothing is recorded. */
  readonly apiKey?: string | undefined
  /** Ends a request to the server that is not answered, of many events where no further one is, in ms. 60 s by default. */
  readonly timeoutMs?: number | undefined
  readonly tachograph?: undefined
  readonly project?: undefined
}

interface Embedded {
  /**
   * The result of `createTachograph`: events are recorded in process, without HTTP. Call `flush` before its `close`: what waits then
   * cannot be stored any more.
   */
  readonly tachograph: EmbeddedTachograph
  /** The project. `default` by default. Over HTTP, the key says which one it is. */
  readonly project?: string | undefined
  readonly url?: undefined
  readonly apiKey?: undefined
  readonly timeoutMs?: undefined
}

export type RecorderOptions = CommonOptions & (OverHttp | Embedded)

export const defaults = {
  maxEvents: 10_000,
  maxBytes: 64 * 1024 * 1024,
  maxEventBytes: 32 * 1024 * 1024,
  maxSpoolBytes: 1024 * 1024 * 1024,
  concurrency: 8,
  unreadMs: 600_000,
  exitMs: 5_000,
  timeoutMs: 60_000
} as const

const isNumber = (isAllowed: (value: number) => boolean) => (value: unknown) =>
  typeof value === "number" && isAllowed(value)

const isFunction = (value: unknown) => typeof value === "function"

const isText = (value: unknown) => typeof value === "string"

const atLeastOne = ["a number from 1 on", isNumber((value) => value >= 1)] as const

const time = ["a time in ms from 0 on", isNumber((value) => value >= 0)] as const

const someTime = ["a time in ms above 0", isNumber((value) => value > 0)] as const

const name = ["a text", isText] as const

const callback = ["a function", isFunction] as const

const isAddress = (value: unknown): boolean =>
  typeof value === "string" && URL.canParse(value) && /^https?:$/.test(new URL(value).protocol)

/** What is expected of each option or field where it is given. */
type Expected<Name extends string = string> = Readonly<
  Record<Name, readonly [what: string, isRight: (value: unknown) => boolean]>
>

/** The server would refuse every call whose fingerprint has others. */
const expectedOfFingerprint: Expected<keyof FingerprintFields> = {
  language: name,
  language_version: name,
  system: name,
  provider1_sdk_version: name,
  provider2_sdk_version: name,
  provider3_sdk_version: name,
  service_sdk_version: name,
  git_repository_url: name,
  git_branch: name,
  git_commit_hash: name,
  git_commit_date: name,
  all_packages: [
    "versions by the name of the package",
    (value) => isObject(value) && Object.values(value).every(isText)
  ]
}

const expected: Expected = {
  url: ["http://… or https://…", (value) => value === "" || isAddress(value)],
  apiKey: name,
  tachograph: ["the result of createTachograph", (value) => isObject(value) && isFunction(value["record"])],
  agent: name,
  agentVersion: name,
  session: name,
  person: name,
  project: name,
  maxEvents: atLeastOne,
  maxBytes: atLeastOne,
  maxEventBytes: atLeastOne,
  maxSpoolBytes: atLeastOne,
  concurrency: atLeastOne,
  timeoutMs: someTime,
  unreadMs: someTime,
  exitMs: time,
  fetch: callback,
  onDrop: callback,
  redact: ["the text of a list of patterns, or a function", (value) => isText(value) || isFunction(value)],
  waitUntil: callback,
  spool: ["the path of a folder", (value) => typeof value === "string" && value !== ""],
  packages: [`"direct", "all" or "none"`, (value) => value === "direct" || value === "all" || value === "none"],
  fingerprint: ["an object of fields", isObject]
}

/** `path` names what the fields are of. */
const checkFields = (fields: object, rules: Expected, what: string, path = ""): void => {
  for (const [field, value] of Object.entries(fields)) {
    const rule = Object.hasOwn(rules, field) ? rules[field] : undefined
    if (rule === undefined) {
      const names = Object.keys(rules)
      const near = hint(field, names) || `; there are ${names.join(", ")}`
      throw new TypeError(`${path}${field}: there is no such ${what}${near}`)
    }
    if (value !== undefined && !rule[1](value)) throw new TypeError(`${path}${field}: expected ${rule[0]}`)
  }
}

const checkPatterns = (redact: string): void => {
  try {
    Patterns.parse(redact)
  } catch (error) {
    throw new TypeError(`redact: ${(error as Error).message}`)
  }
}

/**
 * Checks what only TypeScript would refuse. Throws a `TypeError` that says what is expected. Returns the options without which nothing
 * can be recorded, as far as they are missing.
 */
export const check = (options: RecorderOptions): ReadonlyArray<"url" | "apiKey"> => {
  if (!isObject(options as unknown)) throw new TypeError("options: expected an object")
  checkFields(options, expected, "option")
  const { apiKey, fingerprint, project, redact, tachograph, url } = options
  if (typeof redact === "string") checkPatterns(redact)
  if (fingerprint !== undefined) checkFields(fingerprint, expectedOfFingerprint, "field", "fingerprint.")
  if (tachograph !== undefined) {
    if (url !== undefined) throw new TypeError("url, tachograph: expected one of them, not both")
    return []
  }
  if (url) {
    if (project !== undefined) throw new TypeError("project: leave it out with a url, where the key says which it is")
    checkUrl(url)
  }
  if (apiKey) checkKey(apiKey)
  return (["url", "apiKey"] as const).filter((name) => !options[name])
}
