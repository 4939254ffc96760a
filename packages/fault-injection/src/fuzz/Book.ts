/** What was acknowledged, what was erased, and what is not known because the connection broke. */
import { createHash } from "node:crypto"
import type { Call } from "./Conversation.ts"

export interface Sent {
  readonly session: string
  readonly person: string
  /** What an answer must contain after `properties`, and its length in UTF-16 units. */
  readonly digest: string
  readonly length: number
  /** Which call it is, to find it again. */
  readonly label: string
}

interface Entry extends Sent {
  readonly id: string
}

const before = '"properties":{"api":"aisdk",'

const textOf = ({ inputs, output }: Call): string => `"inputs":${inputs},"output":${output}`

const digestOf = (text: string): string => createHash("sha256").update(text).digest("base64")

export const sent = (call: Call, fields: Pick<Sent, "session" | "person" | "label">): Sent => {
  const text = textOf(call)
  return { ...fields, digest: digestOf(text), length: text.length }
}

export const bodyOf = (call: Call, { person, session }: Sent, fingerprintId: string): string =>
  `{"event_name":"llm","fingerprint_id":"${fingerprintId}","session":"${session}","person":"${person}",` +
  `${before}${textOf(call)}}}`

/** Whether the text of an event is that of what was sent. */
const isSame = (text: string, { digest, length, person, session }: Sent): boolean => {
  const at = text.indexOf(before) + before.length
  const end = at + length
  const envelope = text.slice(0, at) + text.slice(end)
  return (
    digestOf(text.slice(at, end)) === digest &&
    envelope.includes(`"session":"${session}"`) &&
    envelope.includes(`"person":"${person}"`)
  )
}

export class Book {
  readonly #entries = new Map<string, Entry>()
  readonly #bySession = new Map<string, Set<string>>()
  /** Sent, but not acknowledged. */
  readonly #unknown = new Set<Sent>()
  readonly erased: Array<Entry> = []
  readonly #recent: Array<string> = []

  get size(): number {
    return this.#entries.size
  }

  get sessions(): ReadonlyArray<string> {
    return Array.from(this.#bySession.keys())
  }

  add(id: string, what: Sent): void {
    this.#entries.set(id, { ...what, id })
    this.#recent.push(id)
    const own = this.#bySession.get(what.session) ?? new Set()
    this.#bySession.set(what.session, own.add(id))
  }

  has(id: string): boolean {
    return this.#entries.has(id)
  }

  addUnknown(what: Sent): void {
    this.#unknown.add(what)
  }

  /** The nth last event that was acknowledged. Undefined if it was erased. */
  recent(n: number): Entry | undefined {
    return this.#entries.get(this.#recent.at(-n) ?? "")
  }

  /** Forgets what is being erased, so that it is neither read nor expected. Returns it. */
  erase(of: Partial<Pick<Sent, "session" | "person">>): ReadonlyArray<Entry> {
    const isErased = ({ person, session }: Sent) => session === of.session || person === of.person
    for (const each of this.#unknown) if (isErased(each)) this.#unknown.delete(each)
    const erased = Array.from(this.#entries.values()).filter(isErased)
    for (const { id, session } of erased) {
      this.#entries.delete(id)
      this.#bySession.get(session)!.delete(id)
    }
    if (of.session !== undefined) this.#bySession.delete(of.session)
    this.erased.push(...erased)
    return erased
  }

  /** What is wrong with the listed events of a session: as many as the list has. */
  async checkSession(reader: Reader, session: string): Promise<ReadonlyArray<string>> {
    const listed = await reader.list(session)
    const wrong: Array<string> = []
    const expected = this.#bySession.get(session) ?? new Set()
    if (new Set(listed).size < listed.length) wrong.push(`the list of ${session} has an event twice`)
    const found = new Set(listed)
    for (const id of expected) if (!found.has(id)) wrong.push(`${this.#entries.get(id)!.label}, ${id}, is not listed`)
    for (const id of found) {
      const entry = this.#entries.get(id)
      const problem = entry === undefined ? await this.#checkUnknown(reader, id) : await this.checkEntry(reader, entry)
      if (problem !== undefined) wrong.push(problem)
    }
    return wrong
  }

  async checkEntry(reader: Reader, entry: Entry): Promise<string | undefined> {
    const text = await reader.read(entry.id)
    if (text === undefined) return `${entry.label}, ${entry.id}, is not found`
    return isSame(text, entry) ? undefined : `${entry.label}, ${entry.id}, is read as something else`
  }

  async checkErased(reader: Reader, { id, label }: Entry): Promise<string | undefined> {
    return (await reader.read(id)) === undefined ? undefined : `${label}, ${id}, was erased, and is read`
  }

  async #checkUnknown(reader: Reader, id: string): Promise<string | undefined> {
    const text = await reader.read(id)
    if (text === undefined) return `${id} is listed, but not found`
    for (const each of this.#unknown) {
      if (!isSame(text, each)) continue
      this.#unknown.delete(each)
      return undefined
    }
    return `${id} was not sent, or was erased: ${text.slice(0, 300)}`
  }
}

export interface Reader {
  readonly list: (session: string) => Promise<ReadonlyArray<string>>
  /** Undefined if it is not found. */
  readonly read: (id: string) => Promise<string | undefined>
  readonly close: () => void
}
