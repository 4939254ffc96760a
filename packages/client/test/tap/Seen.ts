/** What an application can see of an answer, in a form that can be compared. */

type Fetch = typeof globalThis.fetch

export interface Scenario {
  /** Says when the server goes on: it has sent the beginning of its answer. */
  readonly goOn: () => void
  /** Makes the call. */
  readonly call: (init?: RequestInit) => Promise<Response>
  /** Notes something, in the order of what happens. */
  readonly note: (...seen: ReadonlyArray<unknown>) => void
}

const errorOf = (error: unknown): unknown => {
  if (!(error instanceof Error)) return { thrown: error }
  const { code, errno, syscall } = error as NodeJS.ErrnoException
  const { message, name } = error
  const of = Object.prototype.toString.call(error)
  return {
    of,
    class: error.constructor.name,
    name,
    message,
    code,
    errno,
    syscall,
    cause: error.cause && errorOf(error.cause)
  }
}

const seen = (value: unknown): unknown => {
  if (value instanceof Error) return errorOf(value)
  if (value instanceof Uint8Array) return { bytes: Buffer.from(value).toString(), class: value.constructor.name }
  if (typeof value === "object" && value !== null && "done" in value) {
    return { done: value.done, value: seen((value as { value?: unknown }).value) }
  }
  return value
}

/** Notes how a promise ends, when it does. */
const watch = (note: Scenario["note"], name: string, promise: Promise<unknown>) =>
  promise.then(
    (value) => note(name, "resolved", value),
    (error: unknown) => note(name, "rejected", error)
  )

const attempt = (run: () => unknown): unknown => {
  try {
    return run()
  } catch (error) {
    return error
  }
}

const aTurn = () => new Promise((resolve) => setTimeout(resolve, 30))

const properties = (response: Response) => ({
  class: response.constructor.name,
  tag: Object.prototype.toString.call(response),
  isResponse: response instanceof Response,
  keys: Object.keys(response),
  json: JSON.stringify(response),
  words: "words" in response && response.words,
  status: response.status,
  statusText: response.statusText,
  ok: response.ok,
  url: response.url.replace(/:\d+/, ""),
  type: response.type,
  redirected: response.redirected,
  headers: [...response.headers].filter(([name]) => name !== "date"),
  sameHeaders: response.headers === response.headers,
  hasBody: response.body !== null,
  sameBody: response.body === response.body,
  stream: response.body && [response.body.constructor.name, response.body.locked],
  bodyUsed: response.bodyUsed
})

const state = ({ body, bodyUsed }: Response) => ({ bodyUsed, locked: body?.locked })

/** Each makes a call, and notes what it sees. */
export const scenarios: Readonly<Record<string, (scenario: Scenario) => Promise<void>>> = {
  properties: async ({ call, goOn, note }) => {
    const response = await call()
    note(properties(response))
    const clone = response.clone()
    note(properties(clone), properties(clone.clone()))
    goOn()
    note(await response.text(), state(response), await clone.text(), state(clone))
    note(
      await response.text().catch((error: unknown) => error),
      attempt(() => response.clone())
    )
  },
  "its headers are changed": async ({ call, goOn, note }) => {
    const response = await call()
    note(
      attempt(() => response.headers.set("x-mine", "1")),
      response.headers.get("x-mine")
    )
    note(
      attempt(() => response.headers.append("set-cookie", "a=b")),
      response.headers.getSetCookie()
    )
    goOn()
    await response.arrayBuffer()
  },
  "read to its end": async ({ call, goOn, note }) => {
    const response = await call()
    const reader = response.body!.getReader()
    void watch(note, "closed", reader.closed)
    note(await reader.read(), state(response))
    goOn()
    for (let result = await reader.read(); ; result = await reader.read()) {
      note(result)
      await aTurn()
      if (result.done) break
    }
    note(await reader.read(), await reader.cancel("late"))
    reader.releaseLock()
    note(state(response))
  },
  "closed without a last read": async ({ call, goOn, note }) => {
    const reader = (await call()).body!.getReader()
    void watch(note, "closed", reader.closed)
    await reader.read()
    goOn()
    await aTurn()
    note("now the rest")
    await reader.read()
    await aTurn()
    note("after it")
    await aTurn()
  },
  "several reads at once": async ({ call, goOn, note }) => {
    const reader = (await call()).body!.getReader()
    const reads = [1, 2, 3, 4].map((n) => watch(note, `read ${n}`, reader.read()))
    void watch(note, "closed", reader.closed)
    goOn()
    await Promise.all(reads)
    await aTurn()
  },
  "read into a buffer": async ({ call, goOn, note }) => {
    const body = (await call()).body!
    const reader = attempt(() => body.getReader({ mode: "byob" })) as ReadableStreamBYOBReader
    if (reader instanceof Error) return note(reader)
    void watch(note, "closed", reader.closed)
    goOn()
    for (;;) {
      const buffer = new Uint8Array(7)
      const result = await reader.read(buffer)
      note(result, buffer.byteLength)
      if (result.done) break
    }
    await aTurn()
  },
  iterated: async ({ call, goOn, note }) => {
    const response = await call()
    goOn()
    for await (const chunk of response.body!) note(chunk, state(response))
    note(state(response))
  },
  "iterated, and left": async ({ call, note }) => {
    const response = await call()
    for await (const chunk of response.body!) {
      note(chunk)
      break
    }
    note(state(response), await response.body!.cancel().catch((error: unknown) => error))
  },
  teed: async ({ call, goOn, note }) => {
    const response = await call()
    const [one, two] = response.body!.tee()
    note(state(response))
    goOn()
    note(await new Response(one).text(), await new Response(two).text())
  },
  "piped through": async ({ call, goOn, note }) => {
    const response = await call()
    const text = response.body!.pipeThrough(new TextDecoderStream())
    goOn()
    let all = ""
    for await (const part of text) all += part
    note(all, state(response))
  },
  "cancelled with a reason": async ({ call, note }) => {
    const response = await call()
    const reader = response.body!.getReader()
    void watch(note, "closed", reader.closed)
    note(await reader.read())
    note(await reader.cancel(new Error("enough")), await reader.read(), state(response))
    await aTurn()
  },
  "cancelled unread": async ({ call, note }) => {
    const response = await call()
    note(await response.body!.cancel("no"), state(response), await response.text().catch((error: unknown) => error))
  },
  "cancelled while locked": async ({ call, note }) => {
    const response = await call()
    const reader = response.body!.getReader()
    note(
      await response.body!.cancel().catch((error: unknown) => error),
      attempt(() => response.body!.getReader())
    )
    const read = reader.read()
    await read
    const pending = reader.read()
    const ended = watch(note, "read", pending)
    reader.releaseLock()
    await ended
    note(state(response))
    await response.body!.cancel()
  },
  "aborted while nothing is read": async ({ call, note }) => {
    const abort = new AbortController()
    const response = await call({ signal: abort.signal })
    const reader = response.body!.getReader()
    void watch(note, "closed", reader.closed)
    note(await reader.read())
    abort.abort()
    await aTurn()
    note("after it")
    note(await reader.read().catch((error: unknown) => error))
    note(await reader.cancel().catch((error: unknown) => error), state(response))
  },
  "aborted without a reader": async ({ call, note }) => {
    const abort = new AbortController()
    const response = await call({ signal: abort.signal })
    abort.abort(new RangeError("mine"))
    await aTurn()
    note("after it")
    note(state(response), await response.text().catch((error: unknown) => error))
  },
  "aborted while it is read": async ({ call, note }) => {
    const abort = new AbortController()
    const reader = (await call({ signal: abort.signal })).body!.getReader()
    await reader.read()
    const ends = [watch(note, "closed", reader.closed), watch(note, "read", reader.read())]
    abort.abort({ reason: "of the application" })
    await Promise.all(ends)
  },
  "aborted before": async ({ call, note }) => {
    const reason = Object.assign(new Error("before"), { code: "MINE" })
    note(await call({ signal: AbortSignal.abort(reason) }).catch((error: unknown) => [error, error === reason]))
    note(await call({ signal: AbortSignal.abort("text") }).catch((error: unknown) => error))
  },
  "timed out": async ({ call, note }) => {
    const abort = new AbortController()
    const reader = (await call({ signal: abort.signal })).body!.getReader()
    await reader.read()
    abort.abort(new DOMException("The operation was aborted due to timeout", "TimeoutError"))
    note(await reader.read().catch((error: unknown) => error))
  },
  "aborted after its end": async ({ call, goOn, note }) => {
    const abort = new AbortController()
    const response = await call({ signal: abort.signal })
    goOn()
    note(await response.text())
    abort.abort()
    await aTurn()
    note(state(response), await response.text().catch((error: unknown) => error))
  },
  "aborted with a clone": async ({ call, note }) => {
    const abort = new AbortController()
    const response = await call({ signal: abort.signal })
    const clone = response.clone()
    const ends = [watch(note, "response", response.text()), watch(note, "clone", clone.text())]
    abort.abort(new Error("both"))
    await Promise.all(ends)
  },
  "read as JSON, which it is not": async ({ call, goOn, note }) => {
    const response = await call()
    goOn()
    note(await response.json().catch((error: unknown) => error))
  },
  "read by a method of its class": async ({ call, goOn, note }) => {
    const response = await call()
    goOn()
    note(
      "own" in response ? await (response as unknown as { own: () => Promise<string> }).own() : await response.text()
    )
  },
  "read in another way": async ({ call, goOn, note }) => {
    const response = await call()
    goOn()
    const blob = await response.blob()
    note(blob.type, blob.size, await response.bytes().catch((error: unknown) => error))
  }
}

/** Runs a scenario, and returns what it noted. */
export const noted = async (name: string, fetch: Fetch, url: string, goOn: () => void, init: RequestInit) => {
  const notes: Array<unknown> = []
  const note = (...values: ReadonlyArray<unknown>) => void notes.push(values.map(seen))
  await scenarios[name]!({ call: (more) => fetch(url, { ...init, ...more }), goOn, note }).catch((error: unknown) =>
    note("failed", error)
  )
  return notes
}
