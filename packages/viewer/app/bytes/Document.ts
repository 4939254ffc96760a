/** A text of an event, held by a worker. */
import { scriptUrl } from "../TrustedTypes.ts"
import type { Answer, Question } from "./Questions.ts"
import type { Child } from "./Scan.ts"

/** The address of the worker's script beside the one that starts it. `scripts/build.ts` sets it. */
declare const workerUrl: string

type Of<Type extends Answer["type"]> = Extract<Answer, { readonly type: Type }>

export class Document {
  readonly #worker: Worker
  readonly #pending = new Map<number, (answer: Answer) => void>()
  #lastId = 0
  /** Bytes. */
  readonly size: number
  /** Lines, and parts of long ones. */
  rows = 0
  /** Where the JSON value begins. */
  root = 0

  private constructor(size: number) {
    this.size = size
    this.#worker = new Worker(scriptUrl(new URL(workerUrl, import.meta.url)) as unknown as string, { type: "module" })
    this.#worker.addEventListener(
      "message",
      ({ data }: MessageEvent<{ readonly id: number; readonly answer: Answer }>) => {
        this.#pending.get(data.id)?.(data.answer)
        this.#pending.delete(data.id)
      }
    )
  }

  /** The memory of the bytes moves to the worker. */
  static async open(bytes: Uint8Array<ArrayBuffer>): Promise<Document> {
    const document = new Document(bytes.length)
    const { root, rows } = await document.#ask<"opened">({ type: "open", bytes }, [bytes.buffer])
    document.rows = rows
    document.root = root
    return document
  }

  #ask<Type extends Answer["type"]>(question: Question, transfer: Array<Transferable> = []): Promise<Of<Type>> {
    return new Promise((resolve) => {
      const id = ++this.#lastId
      this.#pending.set(id, (answer) => resolve(answer as Of<Type>))
      this.#worker.postMessage({ id, question }, transfer)
    })
  }

  async text(start: number, end: number): Promise<string> {
    return (await this.#ask<"text">({ type: "text", start, end })).text
  }

  async children(start: number): Promise<ReadonlyArray<Child>> {
    return (await this.#ask<"children">({ type: "children", start })).children
  }

  async readRows(from: number, to: number): Promise<ReadonlyArray<string>> {
    return (await this.#ask<"rows">({ type: "rows", from, to })).texts
  }

  /** Where the words occur, and in which rows. */
  find(words: string): Promise<{ readonly offsets: Uint32Array; readonly rows: Uint32Array }> {
    return this.#ask<"found">({ type: "find", words })
  }

  close(): void {
    this.#worker.terminate()
  }
}
