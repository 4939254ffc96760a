/** Where the parts of a text are of which every character belongs to a match. */
import type { Automaton, StateSet } from "./Automaton.ts"
import type { Steps } from "./Steps.ts"

/** Characters that a step passes. */
const charactersInStep = 8 * 1024

/** What belongs together for so long, in characters, is taken for a match: more is not remembered at once. */
export const maxTogether = 1024 * 1024

/** How much may be looked at, in states of the program, before whole texts are taken for matches. */
export interface Budget {
  left: number
}

/** For texts of so many characters: ordinary patterns and texts take a small part of it. */
export const budgetFor = (characters: number): Budget => ({ left: characters + 1_000_000 })

/** States of a set from which the text leads to the end of a match. */
interface Live {
  readonly number: number
  readonly states: ReadonlySet<number>
}

interface StepBack {
  readonly live: Live
  readonly isCovered: boolean
}

/** Where each part begins and ends, in turn. */
export function* find(automaton: Automaton, text: string, budget: Budget): Steps<ReadonlyArray<number>> {
  const steps = parts(automaton, text)
  for (;;) {
    const before = automaton.work
    const { done, value } = steps.next()
    budget.left -= automaton.work - before
    if (budget.left < 0) return [0, text.length]
    if (done === true) return value
    yield
  }
}

function* parts(automaton: Automaton, text: string): Steps<ReadonlyArray<number>> {
  const search = new Search(automaton, text)
  for (let at = 0; at <= text.length; at++) {
    yield* search.pass(at)
    if (at % charactersInStep === charactersInStep - 1) yield
  }
  yield* search.end()
  return search.bounds
}

class Search {
  readonly bounds: Array<number> = []
  readonly #automaton: Automaton
  readonly #text: string
  #stateSet: StateSet
  /** Where it was since no match has begun that may still end. */
  readonly #passed: Array<StateSet> = []
  #from = 0
  #isFound = false
  readonly #lives = new Map<string, Live>()
  readonly #steps = new Map<StateSet, Map<number, StepBack>>()

  constructor(automaton: Automaton, text: string) {
    this.#automaton = automaton
    this.#text = text
    this.#stateSet = automaton.begin
  }

  /** Passes the character at an index, or the end. */
  *pass(at: number): Steps<void> {
    if (this.#automaton.isIdle(this.#stateSet)) {
      yield* this.end()
      this.#from = at
    }
    if (this.#passed.length < maxTogether) this.#passed.push(this.#stateSet)
    const { isEnd, to } = this.#automaton.move(this.#stateSet, this.#classAt(at))
    if (isEnd) this.#isFound = true
    this.#stateSet = to
  }

  /** No match goes on from here. */
  *end(): Steps<void> {
    if (this.#isFound) yield* this.#cover()
    this.#passed.length = 0
    this.#isFound = false
  }

  #classAt(at: number): number {
    const { endClass, program } = this.#automaton
    return at < this.#text.length ? program.classOf[this.#text.charCodeAt(at)]! : endClass
  }

  /** Goes back from the end of what was passed: only what leads to the end of a match belongs to one. */
  *#cover(): Steps<void> {
    if (this.#passed.length === maxTogether) return this.#add(this.#from, this.#text.length)
    const parts: Array<number> = []
    let live = this.#liveOf(new Set())
    for (let n = this.#passed.length - 1; n >= 0; n--) {
      const step = this.#stepBack(this.#passed[n]!, this.#classAt(this.#from + n), live)
      if (step.isCovered) parts.push(this.#from + n)
      live = step.live
      if (n % charactersInStep === 0) yield
    }
    for (const at of parts.reverse()) this.#add(at, at + 1)
  }

  #add(from: number, to: number): void {
    const { bounds } = this
    if (bounds.at(-1) === from) bounds[bounds.length - 1] = to
    else if (from >= (bounds.at(-1) ?? 0)) bounds.push(from, to)
  }

  #liveOf(states: ReadonlySet<number>): Live {
    const key = [...states].join()
    const known = this.#lives.get(key) ?? { number: this.#lives.size, states }
    this.#lives.set(key, known)
    return known
  }

  /** `live` are the states after the character. */
  #stepBack(stateSet: StateSet, characterClass: number, live: Live): StepBack {
    const steps = this.#steps.get(stateSet) ?? new Map<number, StepBack>()
    this.#steps.set(stateSet, steps)
    const key = live.number * 256 + characterClass
    const known = steps.get(key) ?? this.#stepBackAnew(stateSet, characterClass, live)
    steps.set(key, known)
    return known
  }

  #stepBackAnew(stateSet: StateSet, characterClass: number, live: Live): StepBack {
    const automaton = this.#automaton
    const after = automaton.kindOf(characterClass)
    const states = new Set<number>()
    let isCovered = false
    for (const state of stateSet.states) {
      for (const reached of automaton.reach(state, stateSet.before, after)) {
        automaton.work++
        const one = automaton.program.states[reached]!
        if (one.type === "match") states.add(state)
        if (one.type !== "class" || one.isIn[characterClass] !== 1 || !live.states.has(one.to)) continue
        states.add(state)
        isCovered = true
      }
    }
    return { live: this.#liveOf(states), isCovered }
  }
}
