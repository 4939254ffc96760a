/** Holds the bytes of one text, and answers what is asked about them, so that the page never waits for a large one. */
import type { Answer, Question } from "./Questions.ts"
import * as Scan from "./Scan.ts"

let bytes = new Uint8Array()
let rows: Uint32Array = new Uint32Array()

const encoder = new TextEncoder()

const answerTo = (question: Question): Answer => {
  switch (question.type) {
    case "open": {
      bytes = question.bytes
      rows = Scan.rowsOf(bytes)
      return { type: "opened", rows: rows.length, root: Scan.skipSpace(bytes, 0) }
    }
    case "rows": {
      const texts: Array<string> = []
      for (let row = question.from; row < Math.min(question.to, rows.length); row++) {
        texts.push(Scan.textOf(bytes, rows[row]!, rows[row + 1] ?? bytes.length))
      }
      return { type: "rows", texts }
    }
    case "children":
      return { type: "children", children: Scan.childrenOf(bytes, question.start) }
    case "text":
      return { type: "text", text: Scan.textOf(bytes, question.start, question.end) }
    case "find": {
      const offsets = Scan.find(bytes, encoder.encode(question.words))
      return { type: "found", offsets, rows: offsets.map((offset) => Scan.rowAt(rows, offset)) }
    }
  }
}

addEventListener("message", ({ data }: MessageEvent<{ readonly id: number; readonly question: Question }>) =>
  postMessage({ id: data.id, answer: answerTo(data.question) })
)
