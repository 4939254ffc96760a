/** Numbers for what messages say, so that two messages are compared without their texts. */
import type { Message } from "@tachograph/formats"
import { identity } from "@tachograph/formats/normal/Identity"
import { isInstruction } from "@tachograph/formats/normal/Instructions"
import { hash } from "node:crypto"

/** What a message says: equal for messages of the same identity. Counted from 0. */
export type IdentityNumber = number

/** Longer texts are known by their hashes. */
const maxTextLength = 128

export class Identities {
  readonly #numbers = new Map<string, IdentityNumber>()
  readonly #roles: Array<string> = []

  of(message: Message): IdentityNumber {
    const text = identity(message)
    // A hash is like no text, which begins with a brace.
    const key = text.length <= maxTextLength ? text : hash("sha256", text, "base64url")
    const known = this.#numbers.get(key)
    if (known !== undefined) return known
    const number = this.#roles.length
    this.#numbers.set(key, number)
    this.#roles.push(message.role)
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

  isOfUser(number: IdentityNumber): boolean {
    return this.#roles[number] === "user"
  }
}
