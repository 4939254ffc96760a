/** Decodes bytes, cut anywhere, into lines of text. */

export interface LineDecoder {
  /** Takes bytes and returns the lines that they complete, without their ends. */
  readonly push: (bytes: Uint8Array) => ReadonlyArray<string>
  /** Returns what came of the line that is not complete, and keeps it. */
  readonly rest: () => string
}

/** One line ends with CRLF, LF or CR. A CR at the end of the buffer may be half of a CRLF, so it waits for what follows. */
const lineEnd = /\r\n|\n|\r(?!$)/

export const make = (): LineDecoder => {
  // Without `ignoreBOM`, the decoder drops the byte order mark with which a stream may begin.
  const decoder = new TextDecoder()
  let unread: Array<string> = []

  return {
    push: (bytes) => {
      const text = decoder.decode(bytes, { stream: true })
      if (text === "") return []
      const waitsForLineFeed = unread.at(-1)?.endsWith("\r") === true
      // A long line is joined once, when its end has come, and not with each of its chunks.
      if (!waitsForLineFeed && !/[\r\n]/.test(text)) {
        unread.push(text)
        return []
      }
      const whole = unread.join("") + text
      // Most streams have only LF, by which a text is cut faster.
      const lines = whole.split(whole.includes("\r") ? lineEnd : "\n")
      const rest = lines.pop()!
      unread = rest === "" ? [] : [rest]
      return lines
    },
    rest: () => {
      if (unread.length > 1) unread = [unread.join("")]
      return (unread[0] ?? "").replace(/\r$/, "")
    }
  }
}
