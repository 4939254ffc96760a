/** Runs the same calls without a recorder, with the tap, and through the proxy. */
import { expect } from "vitest"
import type { Provider } from "../Provider.ts"
import type { RecordedCall, Recording } from "../Recording.ts"
import { startProxied } from "./Proxied.ts"

/** What a call came to: its value or its error, in a form that can be compared. */
const outcomeOf = async (run: () => Promise<unknown>): Promise<unknown> => {
  try {
    return { value: await run() }
  } catch (error) {
    const { message, name, status, code, error: body, requestID } = error as Record<string, unknown>
    return { error: { class: (error as object).constructor.name, name, message, status, code, body, requestID } }
  }
}

const random = /^(idempotency-key|x-stainless-(?!retry-count).*|host|connection|traceparent)$/

/** In an order that does not depend on which of several connections was faster. */
const withoutRandom = (provider: Provider) =>
  provider.requests
    .toSorted((a, b) => (a.body < b.body ? -1 : 1))
    .map(({ body, headers, method, path }) => ({
      method,
      path,
      body,
      headers: Object.fromEntries(Object.entries(headers).filter(([name]) => !random.test(name)))
    }))

/** The error with which a recorder says that an answer is not whole: who ended it, the tap knows better than the proxy. */
const ownErrors: ReadonlySet<unknown> = new Set(["aborted", "cancelled", "connection_error", "timeout", "cut"])

const comparable = ({ properties }: RecordedCall) => {
  const { api, inputs, output } = properties
  const error = output["error"] as { readonly type?: unknown } | undefined
  return { api, inputs, output: ownErrors.has(error?.type) ? { ...output, error: "own" } : output }
}

/**
 * Expects that the application and the provider see the same with and without a recorder. Returns what the tap recorded.
 * `isProxied` is false where the proxy cannot be equal.
 */
export const compared = async (
  recording: Recording,
  provider: Provider,
  run: (fetch: typeof globalThis.fetch) => Promise<unknown>,
  isProxied = true
): Promise<ReadonlyArray<RecordedCall>> => {
  provider.requests.length = 0
  const plain = await outcomeOf(() => run(globalThis.fetch))
  const sent = withoutRandom(provider)
  provider.requests.length = 0
  const tapped = await outcomeOf(() => run(recording.recorder.fetch))
  expect(tapped).toEqual(plain)
  expect(withoutRandom(provider)).toEqual(sent)
  expect(sent.length).toBeGreaterThan(0)
  const events = await recording.events()
  if (!isProxied) return events

  provider.requests.length = 0
  const proxied = await startProxied(provider)
  const passed = await outcomeOf(() => run(proxied.fetch))
  expect(passed).toEqual(plain)
  expect(withoutRandom(provider)).toEqual(sent)
  const recorded = (await proxied.events(events.length)).map(comparable)
  // Parallel calls end in any order.
  const sorted = (calls: ReadonlyArray<object>) => calls.map((call) => JSON.stringify(call)).sort()
  expect(sorted(recorded)).toEqual(sorted(events.map(comparable)))
  return events
}

export const collected = async <A>(items: AsyncIterable<A>): Promise<ReadonlyArray<A>> => {
  const all: Array<A> = []
  for await (const item of items) all.push(item)
  return all
}

/** What an application can see of a response without reading it. */
export const seenOf = ({ headers, ok, redirected, status, statusText, type, url }: Response): object => ({
  headers: [...headers].filter(([name]) => name !== "date"),
  ...{ ok, redirected, status, statusText, type, url }
})
