/**
 * Masks what patterns match in the bodies of events, before anything reads them. The elements with which the conversations of a session
 * began in the last bodies are recognised by a hash, and what was masked in them is masked again: to look costs as much as is new.
 */
import * as Body from "@tachograph/capture/masking/Body"
import type { Masked } from "@tachograph/capture/masking/Masked"
import * as Patterns from "@tachograph/capture/masking/Patterns"
import * as Places from "@tachograph/capture/masking/Places"
import type { Steps } from "@tachograph/capture/masking/Steps"
import { LruCache } from "@tachograph/core"
import { createHash, type Hash } from "node:crypto"

/** The first elements of a conversation, as they were sent. */
interface Start {
  readonly bytes: number
  readonly sha256: Buffer
  /** Compared first, which avoids a hash for most texts. */
  readonly ending: Buffer
  /** What is masked in them, from their beginning. */
  readonly bounds: ReadonlyArray<number>
}

/** Shorter starts are looked through again (bytes). */
const shortestStart = 4 * 1024

const endingBytes = 32

/** Starts of a session that are remembered: agents in one session take turns. */
const maxStarts = 4

/** What starts may take in memory, and one of them beside its bounds (bytes). */
const maxBytes = 16 * 1024 * 1024
const startBytes = 500

/** An element that ends so ends there, whatever follows. */
const endings = Buffer.from('}"]')

/** What is known of the conversations in one body. */
class Starts implements Body.Known {
  readonly list: Array<Start> = []
  readonly #text: Buffer
  readonly #before: ReadonlyArray<Start>
  /** The start that was found last, and the hash over it. */
  #found: { readonly start: Start; readonly hash: Hash } | undefined

  constructor(text: Buffer, before: ReadonlyArray<Start>) {
    this.#text = text
    this.#before = before
  }

  from(at: number) {
    this.#found = undefined
    for (const start of this.#before) {
      const end = at + start.bytes
      if (end > this.#text.length || !start.ending.equals(this.#text.subarray(end - endingBytes, end))) continue
      const hash = createHash("sha256").update(this.#text.subarray(at, end))
      if (!hash.copy().digest().equals(start.sha256)) continue
      this.#found = { start, hash }
      return { end, bounds: start.bounds.map((bound) => at + bound) }
    }
    return undefined
  }

  passed(at: number, end: number, bounds: ReadonlyArray<number>): void {
    const bytes = end - at
    if (bytes < shortestStart || !endings.includes(this.#text[end - 1]!)) return
    const { hash = createHash("sha256"), start } = this.#found ?? {}
    if (start?.bytes === bytes) return void this.list.push(start)
    const sha256 = hash.update(this.#text.subarray(at + (start?.bytes ?? 0), end)).digest()
    // A slice would keep the whole body in memory.
    const ending = Buffer.from(this.#text.subarray(end - endingBytes, end))
    this.list.push({ bytes, sha256, ending, bounds: bounds.map((bound) => bound - at) })
  }
}

/** The session that a body most likely names: to be wrong only costs time. */
const sessionIn = (text: Buffer): string => {
  const at = text.lastIndexOf('"session"')
  const [, session = ""] =
    at === -1 ? [] : (/^"session"\s*:\s*"([^"]*)"/.exec(text.toString("latin1", at, at + 2_048)) ?? [])
  return session
}

export class Redactor {
  readonly #patterns: Patterns.Patterns
  readonly #sessions = new LruCache<string, ReadonlyArray<Start>>(maxBytes)

  constructor(list: Patterns.PatternList) {
    this.#patterns = Patterns.parse(list)
  }

  /** The body of an event of a project without what the patterns match. */
  *masked(project: string, text: Buffer): Steps<Masked> {
    if (text.length < shortestStart) return yield* Body.withoutMatches(text, this.#patterns, Places.ofEvent)
    const key = JSON.stringify([project, sessionIn(text)])
    const before = this.#sessions.get(key) ?? []
    const starts = new Starts(text, before)
    const masked = yield* Body.withoutMatches(text, this.#patterns, Places.ofEvent, starts)
    const list = [...new Set([...starts.list, ...before])].slice(0, maxStarts)
    const bytes = list.reduce((sum, { bounds }) => sum + startBytes + 8 * bounds.length, key.length)
    this.#sessions.set(key, list, bytes)
    return masked
  }
}
