/**
 * Finds what patterns match, in time linear in the text: states of the program that can be reached together are one set, a state of an
 * automaton, which is made when a text first leads there.
 */
import { beyondWord, edge, inWord, type Program } from "./Program.ts"

/** Where the program may be at some point of a text, before the assertions there are looked at. */
export interface StateSet {
  readonly number: number
  readonly states: ReadonlyArray<number>
  /** What stands before it. */
  readonly before: number
}

/** The automaton is made anew when it has so many sets. */
const maxStateSets = 4_096

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
  /** How many states were looked at: known sets cost nothing. */
  work = 0
  #stateSets: Array<StateSet> = []
  #byStates = new Map<string, StateSet>()
  /** By set and class: twice the number of the next set, and one more where a match ends before the character. */
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
  get begin(): StateSet {
    return this.#stateSetOf(this.#first, edge)
  }

  /** Whether no match has begun there that may still end. */
  isIdle(stateSet: StateSet): boolean {
    return stateSet.states.length === 1
  }

  #stateSetOf(states: ReadonlyArray<number>, before: number): StateSet {
    const key = `${before} ${states.join()}`
    const known = this.#byStates.get(key)
    if (known !== undefined) return known
    if (this.#stateSets.length >= maxStateSets) {
      this.#stateSets = []
      this.#byStates = new Map()
    }
    const number = this.#stateSets.length
    const stateSet = { number, states, before }
    this.#stateSets.push(stateSet)
    this.#byStates.set(key, stateSet)
    const needed = (number + 1) * this.#width
    if (this.#moves.length < needed) {
      const moves = new Int32Array(2 * needed)
      moves.set(this.#moves)
      this.#moves = moves
    }
    this.#moves.fill(unknown, needed - this.#width, needed)
    return stateSet
  }

  /** Where a character leads, and whether a match ends before it. */
  move(stateSet: StateSet, characterClass: number): { readonly to: StateSet; readonly isEnd: boolean } {
    // The automaton may have been made anew.
    const from =
      this.#stateSets[stateSet.number] === stateSet ? stateSet : this.#stateSetOf(stateSet.states, stateSet.before)
    const move = this.#moves[from.number * this.#width + characterClass]!
    if (move === unknown) return this.#made(from, characterClass)
    return { to: this.#stateSets[move >> 1]!, isEnd: (move & 1) === 1 }
  }

  #made(stateSet: StateSet, characterClass: number): { readonly to: StateSet; readonly isEnd: boolean } {
    const after = this.kindOf(characterClass)
    const next = new Set(this.#first)
    let isEnd = false
    for (const state of stateSet.states) {
      for (const reached of this.reach(state, stateSet.before, after)) {
        this.work++
        const one = this.program.states[reached]!
        if (one.type === "match") isEnd = true
        else if (one.type === "class" && one.isIn[characterClass] === 1) next.add(one.to)
      }
    }
    const to = this.#stateSetOf(
      [...next].sort((a, b) => a - b),
      after
    )
    if (this.#stateSets[stateSet.number] === stateSet)
      this.#moves[stateSet.number * this.#width + characterClass] = 2 * to.number + (isEnd ? 1 : 0)
    return { to, isEnd }
  }

  /**
   * Whether a match ends in a text of ASCII without backslashes, or after it; undefined where it is no such text, or it is more work than
   * `maxWork` to know it.
   */
  matchesPlain(text: Uint8Array, from: number, to: number, maxWork: number): boolean | undefined {
    const { classOf } = this.program
    const width = this.#width
    let stateSet = this.begin.number
    let moves = this.#moves
    const lastWork = this.work + maxWork
    for (let at = from; at < to; at++) {
      const byte = text[at]!
      if (byte >= 0x80 || byte === 0x5c) return undefined
      const move = moves[stateSet * width + classOf[byte]!]!
      if (move >= 0) {
        if ((move & 1) === 1) return true
        stateSet = move >> 1
        continue
      }
      const made = this.#made(this.#stateSets[stateSet]!, classOf[byte]!)
      if (made.isEnd) return true
      stateSet = made.to.number
      moves = this.#moves
      if (this.work > lastWork) return undefined
    }
    return this.move(this.#stateSets[stateSet]!, this.endClass).isEnd
  }
}
