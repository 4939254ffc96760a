/** Runs the same calls with and without the tap. */
import { expect } from "vitest"
import type { Provider } from "../Provider.ts"
import type { RecordedCall, Recording } from "../Recording.ts"

/** What a call came to: its value or its error, in a form that can be compared. */
const outcomeOf = async (run: () => Promise<unknown>): Promise<unknown> => {
  try {
    return { value: await run() }
  } catch (error) {
    const { message, name, status, code, error: body, requestID } = error as Record<string, unknown>
    return { error: { class: (error as object).constructor.name, name, message, status, code, body, requestID } }
  }
}

const random = /^(idempotency-key|x-stainless-.*|host|connection|traceparent)$/

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

/** Expects that the application and the provider see the same with and without the tap. Returns what was recorded. */
export const compared = async (
  recording: Recording,
  provider: Provider,
  run: (fetch: typeof globalThis.fetch) => Promise<unknown>
): Promise<ReadonlyArray<RecordedCall>> => {
  provider.requests.length = 0
  const plain = await outcomeOf(() => run(globalThis.fetch))
  const sent = withoutRandom(provider)
  provider.requests.length = 0
  const tapped = await outcomeOf(() => run(recording.recorder.fetch))
  expect(tapped).toEqual(plain)
  expect(withoutRandom(provider)).toEqual(sent)
  expect(sent.length).toBeGreaterThan(0)
  return recording.events()
}

export const collected = async <A>(items: AsyncIterable<A>): Promise<ReadonlyArray<A>> => {
  const all: Array<A> = []
  for await (const item of items) all.push(item)
  return all
}
