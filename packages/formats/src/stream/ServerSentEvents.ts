/** Decodes a stream of server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html) from bytes cut anywhere. */
import * as Lines from "./Lines.ts"

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

/** Builds events from lines. */
export interface EventReader {
  /** Takes a line and returns the event that it completes. */
  readonly take: (line: string) => ReadonlyArray<ServerSentEvent>
  /** Returns the event that would be complete if the stream ended with this text. It changes nothing. */
  readonly end: (rest: string) => ReadonlyArray<ServerSentEvent>
}

export const makeReader = (): EventReader => {
  let event = ""
  let data: Array<string> = []

  const readLine = (line: string) => {
    const colon = line.indexOf(":")
    // A line that begins with a colon is a comment.
    if (colon === 0) return
    const field = colon === -1 ? line : line.slice(0, colon)
    const value = colon === -1 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1)
    if (field === "event") event = value
    else if (field === "data") data.push(value)
  }

  const complete = () => (data.length === 0 ? [] : [{ event, data: data.join("\n") }])

  return {
    take: (line) => {
      if (line !== "") {
        readLine(line)
        return []
      }
      const events = complete()
      event = ""
      data = []
      return events
    },
    end: (rest) => {
      const before = { event, lines: data.length }
      readLine(rest)
      const events = complete()
      event = before.event
      data.length = before.lines
      return events
    }
  }
}

export const make = (): ServerSentEventDecoder => {
  const lines = Lines.make()
  const reader = makeReader()
  return {
    push: (bytes) => lines.push(bytes).flatMap(reader.take),
    end: () => reader.end(lines.rest())
  }
}
