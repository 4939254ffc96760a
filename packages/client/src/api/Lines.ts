/** Reads lines of JSON as they come. Empty lines, which keep a connection alive, are skipped. Leaving the loop ends the answer. */

const textLines = async function* (body: ReadableStream<Uint8Array>) {
  const decoder = new TextDecoder()
  const reader = body.getReader()
  let isDone = false
  let rest: Array<string> = []
  try {
    while (!isDone) {
      const { done, value } = await reader.read()
      isDone = done
      const [first = "", ...others] = decoder.decode(value, { stream: !done }).split("\n")
      rest.push(first)
      if (others.length === 0) continue
      yield rest.join("")
      rest = others.splice(-1)
      yield* others
    }
    yield rest.join("")
  } finally {
    if (!isDone) reader.cancel().catch(() => {})
  }
}

export const parsedLines = async function* (body: ReadableStream<Uint8Array>): AsyncGenerator<unknown> {
  for await (const line of textLines(body)) if (line.trim() !== "") yield JSON.parse(line)
}
