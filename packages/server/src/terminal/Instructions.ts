/** The instructions of the calls of a session, each in one line: their size, their hash, and what changed in them. */
import type { Conversation as NormalForm, SessionCall as Call } from "@tachograph/client/api"
import { instructionsText } from "@tachograph/formats/normal/Noise"
import { hash } from "node:crypto"
import * as Differences from "./Differences.ts"
import * as Figures from "./Figures.ts"
import * as Indented from "./Indented.ts"
import * as Style from "./Style.ts"

/** Digits of a hash that are printed: enough to tell the prompts of a project apart. */
const hashDigits = 12

/** `1 character`, `12,340 characters`. */
export const characters = (count: number): string => `${Figures.integer(count)} character${count === 1 ? "" : "s"}`

export class Instructions {
  readonly #areWhole: boolean
  /** The texts of the calls, as far as they are known. */
  readonly #texts = new Map<string, string>()
  /** The calls that first had a text, by their numbers. */
  readonly #first = new Map<string, number>()

  /** `areWhole`: texts are printed, and not only what changed in them. */
  constructor(areWhole: boolean) {
    this.#areWhole = areWhole
  }

  /** Whether the instructions of a call are to be read: where they may differ from those of the call that it goes on after. */
  static areNew(call: Call): boolean {
    return call.parent_event_id === null || call.instructions_changed
  }

  /** The lines of the call of this number. `read` is undefined where it was not read. */
  of(call: Call, number: number, read: NormalForm | undefined): ReadonlyArray<string> {
    const before = call.parent_event_id === null ? undefined : this.#texts.get(call.parent_event_id)
    if (!Instructions.areNew(call)) {
      if (before !== undefined) this.#texts.set(call.event_id, before)
      return []
    }
    const count = call.instruction_characters ?? 0
    if (read === undefined) return count === 0 ? [] : [line(characters(count))]
    const text = instructionsText(read)
    this.#texts.set(call.event_id, text)
    if (text === "") return call.instructions_changed ? [Style.dim(`${Indented.indent}no instructions`)] : []
    const first = this.#first.get(text)
    if (first !== undefined) return [line(`as of call ${first}`)]
    this.#first.set(text, number)
    const about = `${characters(count)}, sha256 ${hash("sha256", text).slice(0, hashDigits)}`
    if (this.#areWhole) return [line(about), Indented.of(text)]
    const changes = before === undefined ? [] : Differences.words(before, text).map(Indented.of)
    return [line(`${about}; --instructions prints them`), ...changes]
  }
}

const line = (about: string): string => Style.dim(`${Indented.indent}instructions: ${about}`)
