/** The public address: what reaches the server of what is sent there, and what comes back. */
import { prefix } from "@tachograph/router"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import { randomUUID } from "node:crypto"
import * as Bytes from "../terminal/Bytes.ts"
import { ask, askForFirstByte, baseOf, type Reply } from "./Asking.ts"
import { type Check, type Finding, ok, problem, warning } from "./Check.ts"
import * as TlsCheck from "./TlsCheck.ts"

const page = "reverse-proxy.md"

/** Of an answer that is not the server's. */
const foreign = ({ status }: Reply) => `${status}, and not by Tachograph`

/** A check whose requests may have no answer. */
const asking = (name: string, look: Effect.Effect<Finding, string>): Check => ({
  name,
  look: Effect.catch(look, (reason) =>
    Effect.succeed(
      problem(
        `no answer: ${reason}`,
        "see that the server runs, that what stands in front runs, and that the address is right",
        page
      )
    )
  )
})

/** How often the way there and back is measured. */
const trips = 5

/** Versions of the server beside it are for people. */
const isOk = ({ status, text }: Reply): boolean => status === 200 && /^\{"status":\s*"ok"[,}]/.test(text.trim())

const health = (base: string): Check =>
  asking(
    "health",
    Effect.gen(function* () {
      const replies = yield* Effect.forEach(Array.from({ length: trips }), () => ask(base, "/health"))
      const wrong = replies.find((reply) => !isOk(reply))
      const median = replies.map(({ ms }) => ms).sort((a, b) => a - b)[Math.floor(trips / 2)]!
      if (wrong === undefined) return ok(`${base}/health answers in ${median.toFixed(1)} ms (median of ${trips})`)
      return problem(
        `${base}/health is answered with ${foreign(wrong)}`,
        "pass all paths on to the server, unchanged",
        page
      )
    })
  )

const ready = (base: string): Check =>
  asking(
    "ready",
    Effect.gen(function* () {
      const reply = yield* ask(base, "/ready")
      if (isOk(reply)) return ok("the server can use its storage")
      if (reply.type === undefined)
        return problem(`/ready is answered with ${foreign(reply)}`, "pass all paths on to the server", page)
      return problem(
        `the server cannot use its storage (${reply.status} ${reply.type})`,
        "its log says why",
        "operate.md#what-the-log-says"
      )
    })
  )

const keyNeeded =
  "set TACHOGRAPH_API_KEY to a key of `tachograph keys create --scope record,read --name doctor --expires 1h`"

/**
 * A server that records as much as it can refuses a large body now and then, also while it is sent, which looks like a broken
 * connection. So it is sent a few times.
 */
const patiently = { schedule: Schedule.spaced("1 second"), times: 4 }

const busy = "the server is overloaded"

const unlessBusy = (reply: Reply) => (reply.type === "overloaded" ? Effect.fail(busy) : Effect.succeed(reply))

/** What errors mean that come before what is looked at. */
const unanswered = (reply: Reply, scope: string): Finding | undefined => {
  switch (reply.type) {
    case "unauthorized":
      return process.env["TACHOGRAPH_API_KEY"]
        ? problem(
            "the server refuses the key in TACHOGRAPH_API_KEY",
            `${keyNeeded}; or the header Authorization is not passed on`,
            page
          )
        : warning("not looked at without a key", keyNeeded, page)
    case "forbidden":
      return warning(`not looked at: the key lacks the scope ${scope}`, keyNeeded, page)
    case "overloaded":
    case "storage-unavailable":
      return warning(
        `not looked at: the server refuses requests now (${reply.type})`,
        "try again later",
        "operate.md#what-the-log-says"
      )
    default:
      return undefined
  }
}

/** An event of exactly this length whose fingerprint does not exist: nothing of it is recorded. */
const eventOf = (bytes: number): string => {
  const [before, after] = JSON.stringify({
    event_name: "llm",
    fingerprint_id: randomUUID(),
    session: "tachograph doctor",
    properties: { api: "openai-chat-completions", inputs: { pad: "|" }, output: {} }
  }).split("|") as [string, string]
  return before + "x".repeat(Math.max(0, bytes - before.length - after.length)) + after
}

/**
 * What the server says when it has the whole body: it judges a fingerprint last, and an event before that. A server of another
 * version may find fault with the event.
 */
const arrived: ReadonlySet<string | undefined> = new Set(["fingerprint-not-found", "validation-error"])

const body = (base: string, maxBodyBytes: number): Check => {
  const size = Bytes.format(maxBodyBytes)
  const post = (bytes: number) =>
    ask(base, `${prefix}/events`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: eventOf(bytes)
    })
  const large = Effect.gen(function* () {
    const reply = yield* Effect.retry(Effect.flatMap(post(maxBodyBytes), unlessBusy), patiently)
    if (arrived.has(reply.type)) return ok(`${size} arrive, in ${(reply.ms / 1000).toFixed(1)} s`)
    if (reply.type === "payload-too-large") {
      return problem(`the server takes less than ${size}`, "give both the same --max-body", "limits.md")
    }
    if (reply.type === "request-timeout") {
      return problem(`${size} take too long to arrive`, "serve with a longer --request-timeout", "limits.md")
    }
    const failed = unanswered(reply, "record")
    if (failed !== undefined) return failed
    const mend = `let bodies of ${size} pass: client_max_body_size of nginx, request_body of Caddy, LimitRequestBody of Apache`
    return problem(`${size} are answered with ${foreign(reply)}`, mend, page)
  }).pipe(
    Effect.catch((reason) => {
      if (reason === busy)
        return Effect.succeed(warning(`not looked at: ${busy}`, "try again later", "operate.md#monitoring"))
      const mend = "see what stands in front: its limit of a body, and how long it waits for one"
      return Effect.succeed(problem(`${size} do not arrive: ${reason}`, mend, page))
    })
  )
  return asking(
    "body",
    Effect.flatMap(post(0), (small) => {
      const refused = unanswered(small, "record")
      return refused === undefined ? large : Effect.succeed(refused)
    })
  )
}

/** The first line of a stream comes at once, and its end after five minutes: whether it comes within this time (ms) says enough. */
const firstLineMs = 10_000

const stream = (base: string): Check =>
  asking(
    "stream",
    Effect.gen(function* () {
      const reply = yield* ask(base, `${prefix}/events/stream?wait=0`)
      const refused = unanswered(reply, "read")
      if (refused !== undefined) return refused
      const first = yield* Effect.timeoutOption(askForFirstByte(base, `${prefix}/events/stream`), firstLineMs)
      if (Option.isSome(first) && first.value.status === 200) {
        return ok(`its first line comes after ${first.value.ms.toFixed(0)} ms, before its end`)
      }
      return problem(
        "its first line does not come before its end: something in front waits for whole answers",
        "let answers pass as they come: proxy_buffering off of nginx, flush_interval -1 of Caddy",
        page
      )
    })
  )

/** Where a browser is sent that asks for the address. */
const links = (base: string): Check =>
  asking(
    "links",
    Effect.gen(function* () {
      const root = yield* ask(base, "/", { headers: { accept: "text/html" } })
      const location = root.headers.location
      if (root.status !== 302 || location === undefined) return ok("the server shows no viewer here")
      const viewer = new URL(location, `${base}/`).href
      if (viewer !== `${base}/viewer/`) {
        return problem(
          `browsers are sent to ${viewer}, not to ${base}/viewer/`,
          "let what stands in front leave the header Location as it is",
          page
        )
      }
      const shown = yield* ask(base, "/viewer/")
      if (shown.status === 200) return ok(`browsers find the viewer at ${viewer}`)
      return problem(`${viewer} is answered with ${shown.status}`, "pass all paths below the address on", page)
    })
  )

export const of = (url: URL, maxBodyBytes: number): ReadonlyArray<Check> => {
  const base = baseOf(url)
  return [...TlsCheck.of(url), health(base), ready(base), body(base, maxBodyBytes), stream(base), links(base)]
}
