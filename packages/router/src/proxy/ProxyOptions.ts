/** What a host may set of the proxy. */
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

/** Throws a `TypeError` if an option is wrong. */
export const settingsOf = (options: ProxyOptions): ProxySettings => ({
  upstreams: parseUpstreams(options.upstreams),
  isOpen: options.open === true,
  connectTimeoutMs: checkTime("connectTimeoutMs", options.connectTimeoutMs ?? defaultConnectTimeoutMs),
  idleTimeoutMs: checkTime("idleTimeoutMs", options.idleTimeoutMs ?? defaultIdleTimeoutMs),
  maxHeldBytes: checkPositive("maxHeldBytes", options.maxHeldBytes ?? defaultMaxHeldBytes)
})
