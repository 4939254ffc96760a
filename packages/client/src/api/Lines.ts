/** Reads lines of JSON as they come. Leaving the loop ends the answer. */

/** Each line as it is, also an empty one. What comes after `maxBytes` is not read. */
export const textLines = async function* (body: ReadableStream<Uint8Array>, maxBytes = Infinity) {
  const decoder = new TextDecoder()
  const reader = body.getReader()
  let isDone = false
  let bytes = 0
  let rest: Array<string> = []
  try {
    while (!isDone) {
      const { done, value } = await reader.read()
      isDone = done
      bytes += value?.length ?? 0
      if (bytes > maxBytes) return
      const [first = "", ...others] = decoder.decode(value, { stream: !done }).split("\n")
      rest.push(first)
      if (others.length === 0) continue
      yield rest.join("")
      rest = others.splice(-1)
      yield* others
    }
    const last = rest.join("")
    if (last !== "") yield last
  } finally {
    if (!isDone) reader.cancel().catch(() => {})
  }
}

/** Empty lines, which keep a connection alive, are skipped. */
export const parsedLines = async function* (
  body: ReadableStream<Uint8Array>,
  parse: (text: string) => unknown = JSON.parse
): AsyncGenerator<unknown> {
  for await (const line of textLines(body)) if (line.trim() !== "") yield parse(line)
}
