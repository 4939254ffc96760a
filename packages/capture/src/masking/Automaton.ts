/**
 * Finds what patterns match, in time linear in the text: states of the program that can be reached together are one place of an
 * automaton, which is made when a text first leads there.
 */
import { beyondWord, edge, inWord, type Program } from "./Program.ts"

/** Where the program may be at some point of a text, before the assertions there are looked at. */
export interface Place {
  readonly number: number
  readonly states: ReadonlyArray<number>
  /** What stands before it. */
  readonly before: number
}

/** The automaton is made anew when it has so many places. */
const maxPlaces = 4_096

const unknown = -1

const isBoundary = (before: number, after: number): boolean => (before === inWord) !== (after === inWord)

const holds = {
  start: (before: number) => before === edge,
  end: (_: number, after: number) => after === edge,
  boundary: isBoundary,
  "no-boundary": (before: number, after: number) => !isBoundary(before, after)
} as const

export class Automaton {
  readonly program: Program
  /** The class of the end of a text. */
  readonly endClass: number
  /** How many states were looked at: known places cost nothing. */
  work = 0
  #places: Array<Place> = []
  #byStates = new Map<string, Place>()
  /** By place and class: twice the number of the next place, and one more where a match ends before the character. */
  #moves: Int32Array
  readonly #width: number
  /** What follows a state without a character, by the state and what stands around. */
  readonly #reached = new Map<number, ReadonlyArray<number>>()
  readonly #first: ReadonlyArray<number>

  constructor(program: Program) {
    this.program = program
    this.endClass = program.classes
    this.#width = program.classes + 1
    this.#moves = new Int32Array(0)
    this.#first = [program.start]
  }

  /** Whether some pattern matches a text of no characters. */
  get matchesNothing(): boolean {
    const around = [edge, inWord, beyondWord]
    return around.some((before) => around.some((after) => this.reach(this.program.start, before, after).includes(0)))
  }

  kindOf(characterClass: number): number {
    return characterClass === this.endClass ? edge : this.program.kindOf(characterClass)
  }

  /** The states that take a character, and the end of a match, to which a state leads. */
  reach(state: number, before: number, after: number): ReadonlyArray<number> {
    const key = (state * 3 + before) * 3 + after
    const known = this.#reached.get(key)
    if (known !== undefined) return known
    const seen = new Set<number>()
    const found: Array<number> = []
    const open = [state]
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (seen.has(next)) continue
      seen.add(next)
      const one = this.program.states[next]!
      if (one.type === "fork") for (const to of one.to) open.push(to)
      else if (one.type !== "assert") found.push(next)
      else if (holds[one.assertion](before, after)) open.push(one.to)
    }
    this.work += seen.size
    this.#reached.set(key, found)
    return found
  }

  /** Where a text begins. */
  get begin(): Place {
    return this.#placeOf(this.#first, edge)
  }

  /** Whether no match has begun there that may still end. */
  isIdle(place: Place): boolean {
    return place.states.length === 1
  }

  #placeOf(states: ReadonlyArray<number>, before: number): Place {
    const key = `${before} ${states.join()}`
    const known = this.#byStates.get(key)
    if (known !== undefined) return known
    if (this.#places.length >= maxPlaces) {
      this.#places = []
      this.#byStates = new Map()
    }
    const number = this.#places.length
    const place = { number, states, before }
    this.#places.push(place)
    this.#byStates.set(key, place)
    const needed = (number + 1) * this.#width
    if (this.#moves.length < needed) {
      const moves = new Int32Array(2 * needed)
      moves.set(this.#moves)
      this.#moves = moves
    }
    this.#moves.fill(unknown, needed - this.#width, needed)
    return place
  }

  /** Where a character leads, and whether a match ends before it. */
  move(place: Place, characterClass: number): { readonly to: Place; readonly isEnd: boolean } {
    // The automaton may have been made anew.
    const from = this.#places[place.number] === place ? place : this.#placeOf(place.states, place.before)
    const move = this.#moves[from.number * this.#width + characterClass]!
    if (move === unknown) return this.#made(from, characterClass)
    return { to: this.#places[move >> 1]!, isEnd: (move & 1) === 1 }
  }

  #made(place: Place, characterClass: number): { readonly to: Place; readonly isEnd: boolean } {
    const after = this.kindOf(characterClass)
    const next = new Set(this.#first)
    let isEnd = false
    for (const state of place.states) {
      for (const reached of this.reach(state, place.before, after)) {
        this.work++
        const one = this.program.states[reached]!
        if (one.type === "match") isEnd = true
        else if (one.type === "class" && one.isIn[characterClass] === 1) next.add(one.to)
      }
    }
    const to = this.#placeOf(
      [...next].sort((a, b) => a - b),
      after
    )
    if (this.#places[place.number] === place)
      this.#moves[place.number * this.#width + characterClass] = 2 * to.number + (isEnd ? 1 : 0)
    return { to, isEnd }
  }

  /**
   * Whether a match ends in a text of ASCII without backslashes, or after it; undefined where it is no such text, or it is more work than
   * `maxWork` to know it.
   */
  matchesPlain(text: Uint8Array, from: number, to: number, maxWork: number): boolean | undefined {
    const { classOf } = this.program
    const width = this.#width
    let place = this.begin.number
    let moves = this.#moves
    const lastWork = this.work + maxWork
    for (let at = from; at < to; at++) {
      const byte = text[at]!
      if (byte >= 0x80 || byte === 0x5c) return undefined
      const move = moves[place * width + classOf[byte]!]!
      if (move >= 0) {
        if ((move & 1) === 1) return true
        place = move >> 1
        continue
      }
      const made = this.#made(this.#places[place]!, classOf[byte]!)
      if (made.isEnd) return true
      place = made.to.number
      moves = this.#moves
      if (this.work > lastWork) return undefined
    }
    return this.move(this.#places[place]!, this.endClass).isEnd
  }
}
