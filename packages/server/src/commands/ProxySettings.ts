/** The options of `tachograph serve` that concern the recording proxy. */
import { ProxyOptions, Upstreams } from "@tachograph/router"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Setting from "../config/Setting.ts"
import { UsageError } from "../terminal/CliErrors.ts"
import * as ListeningHost from "../config/ListeningHost.ts"
import { parseBytes, timeout } from "./SettingParsers.ts"

const proxy = Setting.makeSwitch({
  name: "proxy",
  description: "Pass requests to /proxy/NAME on to model providers, and record the calls among them"
})

export const isOn = proxy.resolve

const open = Setting.makeSwitch({
  name: "proxy-open",
  description: "Whether programs on this machine need no key of Tachograph for the proxy"
})

/** A list with commas, of which `URL.parse` would make a part of the host or the path. */
const list = /,(?:$|[\w-]*=https?:)/i

/** What is sure to hold no password. */
const withoutSecrets = (url: string): string => {
  // What follows the comma may hold a password.
  if (list.test(url)) return `${withoutSecrets(url.replace(/,.*$/s, ""))},…`
  const parsed = URL.parse(url)
  if (parsed === null || parsed.host === "") return "…"
  const { host, password, pathname, protocol, username } = parsed
  const path = pathname === "/" && !url.endsWith("/") ? "" : pathname
  const user = username === "" && password === "" ? "" : "…@"
  return `${protocol}//${user}${host}${path}${/[?#]/.test(url) ? "?…" : ""}`
}

/** `NAME=URL`, or what was written instead. */
const redact = (text: string): string => {
  const [, before = "", url = text] = /^([^=:]*=)(.*)$/.exec(text) ?? []
  return before + withoutSecrets(url)
}

const upstream = Setting.makeRepeatable({
  name: "upstream",
  metavar: "NAME=URL",
  description: `A provider, repeatable: /proxy/NAME/rest is URL/rest. Beside or in the place of ${Object.keys(Upstreams.defaultUpstreams).join(", ")}`,
  expected: `NAME=URL: ${Upstreams.upstreamRule}`,
  parse: (text) => {
    const [, name = "", url = ""] = /^([^=]*)=(.*)$/.exec(text) ?? []
    if (list.test(url)) return Option.none()
    return Option.as(Option.fromNullishOr(Upstreams.parseUpstream(name, url)), [name, url] as const)
  },
  redact
})

const connectTimeout = timeout(
  "proxy-connect-timeout",
  "How long connecting to a provider may take",
  ProxyOptions.defaultConnectTimeoutMs / 1_000
)
const idleTimeout = timeout(
  "proxy-idle-timeout",
  "How long a provider may send nothing and take nothing",
  ProxyOptions.defaultIdleTimeoutMs / 1_000
)

const memory = Setting.make({
  name: "proxy-memory",
  metavar: "BYTES",
  description: "What calls under way may take until they are recorded; further ones pass unrecorded",
  default: `${ProxyOptions.defaultMaxHeldBytes / 1024 ** 2}MiB`,
  expected: "a number of bytes from 1 to 64GiB, such as 16MiB or 1GiB",
  parse: parseBytes(1, 64 * 1024 ** 3)
})

export const flags = {
  proxy: proxy.flag,
  upstream: upstream.flag,
  proxyOpen: open.flag,
  proxyConnectTimeout: connectTimeout.flag,
  proxyIdleTimeout: idleTimeout.flag,
  proxyMemory: memory.flag
}

interface Given {
  readonly proxy: Option.Option<boolean>
  readonly upstream: ReadonlyArray<string>
  readonly proxyOpen: Option.Option<boolean>
  readonly proxyConnectTimeout: Option.Option<string>
  readonly proxyIdleTimeout: Option.Option<string>
  readonly proxyMemory: Option.Option<string>
}

/** Refuses two upstreams with one name: one would be forgotten. */
const upstreamsOf = Effect.fnUntraced(function* (given: Given["upstream"]) {
  const pairs = yield* upstream.resolve(given)
  const names = pairs.map(([name]) => name)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice === undefined) return Object.fromEntries(pairs)
  return yield* new UsageError({ message: `${upstream.sourceOf(given)} names ${JSON.stringify(twice)} twice` })
})

interface Listening {
  readonly host: string
  readonly port: number
}

/** Whether its paths are those of this server's own proxy. */
const leadsBack = ({ hostname, path, port, protocol }: Upstreams.Upstream, listening: Listening): boolean =>
  protocol === "http:" &&
  port === listening.port &&
  ListeningHost.isReachedBy(listening.host, hostname) &&
  /^\/proxy(?:\/|$)/.test(path)

/** A call to such an upstream would be passed on without end. */
const checkLoops = (upstreams: Upstreams.Upstreams, listening: Listening, source: string) => {
  const upstream = Array.from(upstreams.values()).find((upstream) => leadsBack(upstream, listening))
  if (upstream === undefined) return Effect.void
  const message = `${source} is invalid: ${JSON.stringify(upstream.name)} leads back to this server's own proxy`
  return Effect.fail(new UsageError({ message }))
}

/** Undefined without `--proxy`. */
export const resolve = Effect.fnUntraced(function* (given: Given, listening: Listening) {
  const hasProxy = yield* isOn(given.proxy)
  const options: ProxyOptions.ProxyOptions = {
    upstreams: yield* upstreamsOf(given.upstream),
    open: yield* open.resolve(given.proxyOpen),
    connectTimeoutMs: yield* connectTimeout.resolve(given.proxyConnectTimeout),
    idleTimeoutMs: yield* idleTimeout.resolve(given.proxyIdleTimeout),
    maxHeldBytes: yield* memory.resolve(given.proxyMemory)
  }
  const settings = yield* Effect.try({
    try: () => ProxyOptions.settingsOf(options, hasProxy ? process.env : {}),
    // Of the environment: the options are checked.
    catch: (error) => new UsageError({ message: (error as TypeError).message })
  })
  yield* checkLoops(settings.upstreams, listening, upstream.sourceOf(given.upstream) ?? "--upstream")
  if (hasProxy) return settings
  const unused =
    upstream.sourceOf(given.upstream) ??
    open.sourceOf(given.proxyOpen) ??
    connectTimeout.sourceOf(given.proxyConnectTimeout) ??
    idleTimeout.sourceOf(given.proxyIdleTimeout) ??
    memory.sourceOf(given.proxyMemory)
  return unused === undefined ? undefined : yield* new UsageError({ message: `${unused} needs --proxy` })
})
