/** Numbers for what messages say, so that two messages are compared without their texts. */
import type { Message } from "@tachograph/formats"
import { identity } from "@tachograph/formats/normal/Identity"
import { charactersOf, isInstruction } from "@tachograph/formats/normal/Instructions"
import { isContext, quietParts } from "@tachograph/formats/normal/Noise"
import { hash } from "node:crypto"

/** What a message says: equal for messages of the same identity. Counted from 0. */
export type IdentityNumber = number

/** Longer texts are known by their hashes. */
const maxTextLength = 128

export class Identities {
  readonly #numbers = new Map<string, IdentityNumber>()
  readonly #roles: Array<string> = []
  readonly #context = new Set<IdentityNumber>()
  /** Of instructions. */
  readonly #characters = new Map<IdentityNumber, number>()

  of(message: Message): IdentityNumber {
    const text = identity(message)
    // A hash is like no text, which begins with a brace.
    const key = text.length <= maxTextLength ? text : hash("sha256", text, "base64url")
    const known = this.#numbers.get(key)
    if (known !== undefined) return known
    const number = this.#roles.length
    this.#numbers.set(key, number)
    this.#roles.push(message.role)
    if (isContext(message)) this.#context.add(number)
    if (isInstruction(message)) this.#characters.set(number, charactersOf(quietParts(message)))
    return number
  }

  /** The number of a message that cannot be read: no other one is the same. */
  ofUnreadable(): IdentityNumber {
    return this.#roles.push("unknown") - 1
  }

  /** Whether it is of a system or developer message. */
  isInstruction(number: IdentityNumber): boolean {
    return isInstruction({ role: this.#roles[number]! })
  }

  /** Whether a client says it in the user's name: conversations of different agents may begin with it. */
  isContext(number: IdentityNumber): boolean {
    return this.#context.has(number)
  }

  /** How many characters an instruction has, without noise. */
  charactersOf(number: IdentityNumber): number {
    return this.#characters.get(number) ?? 0
  }

  isOfUser(number: IdentityNumber): boolean {
    return this.#roles[number] === "user"
  }
}
