/** Decodes a stream of server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html) from bytes cut anywhere. */

export interface ServerSentEvent {
  /** The value of the last `event` field; empty where there is none. */
  readonly event: string
  /** The values of the `data` fields, joined by newlines. */
  readonly data: string
}

export interface ServerSentEventDecoder {
  /** Takes bytes and returns the events that they complete. */
  readonly push: (bytes: Uint8Array) => ReadonlyArray<ServerSentEvent>
  /**
   * Returns the last event of a stream that ends without a blank line. It changes nothing, so more bytes can follow: the event
   * then comes again, whole.
   */
  readonly end: () => ReadonlyArray<ServerSentEvent>
}

/** One line ends with CRLF, LF or CR. A CR at the end of the buffer may be half of a CRLF, so it waits for what follows. */
const lineEnd = /\r\n|\n|\r(?!$)/g

export const make = (): ServerSentEventDecoder => {
  // Without `ignoreBOM`, the decoder drops the byte order mark with which a stream may begin.
  const decoder = new TextDecoder()
  let unread: Array<string> = []
  let event = ""
  let data: Array<string> = []

  const dispatch = (into: Array<ServerSentEvent>) => {
    if (data.length > 0) into.push({ event, data: data.join("\n") })
    event = ""
    data = []
  }

  const readLine = (line: string, into: Array<ServerSentEvent>) => {
    if (line === "") return dispatch(into)
    const colon = line.indexOf(":")
    // A line that begins with a colon is a comment.
    if (colon === 0) return
    const field = colon === -1 ? line : line.slice(0, colon)
    const value = colon === -1 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1)
    if (field === "event") event = value
    else if (field === "data") data.push(value)
  }

  const readLines = (text: string, into: Array<ServerSentEvent>): string => {
    let from = 0
    for (const match of text.matchAll(lineEnd)) {
      readLine(text.slice(from, match.index), into)
      from = match.index + match[0].length
    }
    return text.slice(from)
  }

  const take = (text: string): ReadonlyArray<ServerSentEvent> => {
    const events: Array<ServerSentEvent> = []
    const waitsForLineFeed = unread.at(-1)?.endsWith("\r") === true
    // A long line is joined once, when its end has come, and not with each of its chunks.
    if (!waitsForLineFeed && !/[\r\n]/.test(text)) {
      if (text !== "") unread.push(text)
      return events
    }
    const rest = readLines(unread.join("") + text, events)
    unread = rest === "" ? [] : [rest]
    return events
  }

  return {
    push: (bytes) => take(decoder.decode(bytes, { stream: true })),
    end: () => {
      const before = { event, data: [...data] }
      const events: Array<ServerSentEvent> = []
      const last = unread.join("").replace(/\r$/, "")
      readLine(last, events)
      if (last !== "") dispatch(events)
      event = before.event
      data = before.data
      return events
    }
  }
}
