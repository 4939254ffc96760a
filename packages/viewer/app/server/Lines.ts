/** Answers that are made while they are taken: lines of JSON. */
import * as Client from "./Client.ts"
import * as ExactJson from "./ExactJson.ts"

/** A line that shows only that the connection is alive. */
export const alive = Symbol("alive")

/** The lines of a stream as they come. Rejects as `Client.send` does, and with `offline` where the connection breaks. */
export async function* read<A>(
  parts: ReadonlyArray<string>,
  query: Client.Query,
  signal: AbortSignal
): AsyncGenerator<A | typeof alive> {
  const headers = { accept: "application/x-ndjson" }
  const { body } = await Client.send(Client.urlOf(parts, query), { signal, headers })
  if (body === null) throw new Client.ServerError(0, "offline")
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ""
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      const lines = (rest + value).split("\n")
      rest = lines.pop()!
      for (const line of lines) yield line === "" ? alive : (ExactJson.parse(line) as A)
    }
  } catch (error) {
    if (signal.aborted || error instanceof Client.ServerError) throw error
    throw new Client.ServerError(0, "offline")
  } finally {
    void reader.cancel().catch(() => {})
  }
}
