/** The elements of a call's conversation, in order, with runs of pieces that are not expanded. */
import type { Run } from "../payload/format/Template.ts"
import type { IdentityNumber } from "./Identities.ts"

/** An element that is no piece: what the messages say that it stands for. */
export interface InlineElement {
  readonly identities: ReadonlyArray<IdentityNumber>
}

export type Elements = ReadonlyArray<Run | InlineElement>

/** A place in such elements. */
export class ElementCursor {
  readonly #elements: Elements
  #at = 0
  /** Elements of the current run before the current element. */
  #inRun = 0
  /** Elements before the current one. */
  index = 0

  constructor(elements: Elements) {
    this.#elements = elements
    this.#skipEmpty()
  }

  get isAtEnd(): boolean {
    return this.#at === this.#elements.length
  }

  /** The current element as the rest of its run, or as it is. */
  get current(): Run | InlineElement {
    const element = this.#elements[this.#at]!
    if (!("count" in element)) return element
    return { first: element.first + this.#inRun, count: element.count - this.#inRun }
  }

  /** Passes elements of the current run, or the current element. */
  pass(count = 1): void {
    const element = this.#elements[this.#at]!
    this.index += count
    this.#inRun += count
    if (!("count" in element) || this.#inRun === element.count) {
      this.#at++
      this.#inRun = 0
      this.#skipEmpty()
    }
  }

  /** Another cursor at the same place. */
  copy(): ElementCursor {
    const copy = new ElementCursor(this.#elements)
    copy.moveTo(this)
    return copy
  }

  /** Goes to the place of another cursor of the same elements. */
  moveTo(other: ElementCursor): void {
    this.#at = other.#at
    this.#inRun = other.#inRun
    this.index = other.index
  }

  #skipEmpty(): void {
    for (let next = this.#elements[this.#at]; next !== undefined; next = this.#elements[++this.#at]) {
      if (!("count" in next) || next.count > 0) return
    }
  }
}
