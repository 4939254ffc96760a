/** What a host may set of the proxy. */
import type { Environment } from "./ForwardProxies.ts"
import type { Timeouts } from "./UpstreamClient.ts"
import { parseUpstreams, type Upstreams } from "./Upstreams.ts"

export interface ProxyOptions {
  /**
   * Base URLs by name, such as `{ local: "http://127.0.0.1:8080/v1" }`: `/proxy/local/rest` is `http://127.0.0.1:8080/v1/rest`.
   * `openai`, `anthropic` and `gemini` are there by default, and may be given other URLs. No other host is ever asked.
   */
  readonly upstreams?: Readonly<Record<string, string>> | undefined
  /**
   * Whether programs on this machine need no key of Tachograph, over the mount for Node. Their calls are recorded in the project
   * `default`. False by default.
   */
  readonly open?: boolean | undefined
  /** How long connecting to an upstream may take, in milliseconds. 10 s by default; more than 24 days counts as 24 days. */
  readonly connectTimeoutMs?: number | undefined
  /** How long an upstream may send nothing and take nothing, in milliseconds. 10 minutes by default; at most 24 days as well. */
  readonly idleTimeoutMs?: number | undefined
  /**
   * How many bytes of calls may be held for the recorder, in bytes. 64 MiB by default. Beyond it calls pass on and are not recorded.
   * A call is recorded up to `maxBody`.
   */
  readonly maxHeldBytes?: number | undefined
}

export interface ProxySettings extends Timeouts {
  readonly upstreams: Upstreams
  readonly isOpen: boolean
  readonly maxHeldBytes: number
}

export const defaultConnectTimeoutMs = 10_000
export const defaultIdleTimeoutMs = 600_000
export const defaultMaxHeldBytes = 64 * 1024 * 1024

const checkPositive = (name: string, value: number): number => {
  if (!(Number.isFinite(value) && value > 0)) throw new TypeError(`proxy.${name}: expected a number above 0`)
  return value
}

/** The longest time of a timer (ms). A longer one ends at once. */
const longestMs = 2 ** 31 - 1

const checkTime = (name: string, ms: number): number => Math.min(longestMs, checkPositive(name, ms))

const isRecord = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const names = ["upstreams", "open", "connectTimeoutMs", "idleTimeoutMs", "maxHeldBytes"] satisfies Array<
  keyof ProxyOptions
>

/** Checks what only TypeScript would refuse. No value is shown: URLs may have passwords. */
const checkOptions = (options: ProxyOptions): void => {
  const other = Object.keys(options).find((name) => !(names as ReadonlyArray<string>).includes(name))
  if (other !== undefined) throw new TypeError(`proxy.${other}: there is no such option; there are ${names.join(", ")}`)
  const { open = false, upstreams = {} } = options
  if (!isRecord(upstreams)) throw new TypeError("proxy.upstreams: expected an object of URLs by name")
  if (typeof open !== "boolean") throw new TypeError("proxy.open: expected true or false")
}

/** Undefined if the proxy is off. Throws a `TypeError` if it is wrong. */
export const settingsOfOption = (option: boolean | ProxyOptions | undefined): ProxySettings | undefined => {
  if (option === undefined || option === false) return undefined
  if (option !== true && !isRecord(option)) {
    throw new TypeError("proxy: expected true, false, or an object of options")
  }
  return settingsOf(option === true ? {} : option)
}

/** The names of its upstreams; null if the proxy is off. */
export const namesOf = (settings: ProxySettings | undefined): ReadonlyArray<string> | null =>
  settings === undefined ? null : Array.from(settings.upstreams.keys())

/** Throws a `TypeError` if an option is wrong, or a proxy that the environment names. */
export const settingsOf = (options: ProxyOptions, environment?: Environment): ProxySettings => {
  checkOptions(options)
  return {
    upstreams: parseUpstreams(options.upstreams, environment),
    isOpen: options.open === true,
    connectTimeoutMs: checkTime("connectTimeoutMs", options.connectTimeoutMs ?? defaultConnectTimeoutMs),
    idleTimeoutMs: checkTime("idleTimeoutMs", options.idleTimeoutMs ?? defaultIdleTimeoutMs),
    maxHeldBytes: checkPositive("maxHeldBytes", options.maxHeldBytes ?? defaultMaxHeldBytes)
  }
}
