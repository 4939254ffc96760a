/** Defines, selects and registers the cases of a suite. Cases are identified by their titles. */
import { format } from "node:util"
import * as vitest from "vitest"
import type { Fixture } from "./Fixture.ts"

/**
 * `adapter`: what an adapter can influence: paths, headers, bodies, compression, limits, keys and statuses.
 * `path`: what depends on the path below which an adapter is mounted; each has the tag `adapter` too.
 * `body-limit`: depends on the largest body that the server accepts.
 * `text`: what a text says, whichever storage it was read from.
 */
export type Tag = "adapter" | "path" | "body-limit" | "text"

/** A tag or a timeout (ms) for one case, or for all rows of `it.each`. */
interface CaseOptions {
  readonly tags?: ReadonlyArray<Tag>
  readonly timeout?: number
}

export interface Case extends CaseOptions {
  readonly group: string
  readonly title: string
  readonly run: () => Promise<void>
}

interface It {
  (title: string, run: () => Promise<void>): void
  (title: string, options: CaseOptions, run: () => Promise<void>): void
  /** Defines a case per row. The row's values replace `%s` and `%j` in the title. */
  readonly each: {
    <const Row extends ReadonlyArray<unknown>>(
      rows: ReadonlyArray<Row>,
      options?: CaseOptions
    ): (title: string, run: (...row: [...Row]) => Promise<void>) => void
    <Value>(
      values: ReadonlyArray<Value>,
      options?: CaseOptions
    ): (title: string, run: (value: Value) => Promise<void>) => void
  }
}

export interface Cases {
  readonly describe: (group: string, define: () => void) => void
  readonly it: It
  /** Available once the cases run. */
  readonly fixture: () => Fixture
}

/** Replaces a case that cannot hold with an adapter. */
interface Exception {
  /** Why the case cannot hold; part of the test's name. */
  readonly why: string
  /** Checks what happens instead. */
  readonly instead: (fixture: Fixture) => Promise<void>
}

/** By the title of the replaced case. */
export type Exceptions = Readonly<Record<string, Exception>>

/** Runs `define` and returns the cases that it defines. */
export const collect = (define: (cases: Cases) => void, fixture: () => Fixture): ReadonlyArray<Case> => {
  const cases: Array<Case> = []
  let group = ""

  const add = (title: string, ...rest: [run: Case["run"]] | [options: CaseOptions, run: Case["run"]]) => {
    const [options, run] = rest.length === 1 ? [{}, rest[0]] : rest
    cases.push({ ...options, group, title, run })
  }
  const each =
    (rows: ReadonlyArray<unknown>, options: CaseOptions = {}) =>
    (title: string, run: (...values: ReadonlyArray<any>) => Promise<void>) => {
      const areTuples = rows.every((row) => Array.isArray(row))
      const placeholders = title.split("%").length - 1
      for (const row of rows) {
        const values: ReadonlyArray<unknown> = areTuples ? (row as ReadonlyArray<unknown>) : [row]
        add(format(title, ...values.slice(0, placeholders)), options, () => run(...values))
      }
    }
  const describe: Cases["describe"] = (title, defineGroup) => {
    group = title
    defineGroup()
    group = ""
  }
  define({ describe, it: Object.assign(add, { each }), fixture })
  return cases
}

export const has =
  (tag: Tag) =>
  ({ tags = [] }: Case): boolean =>
    tags.includes(tag)

/** Returns the cases with a tag, or all cases without one. Throws if there are none. */
export const select = (cases: ReadonlyArray<Case>, tag: Tag | undefined): ReadonlyArray<Case> => {
  const selected = tag === undefined ? cases : cases.filter(has(tag))
  if (selected.length === 0)
    throw new Error(`The suite selects no case${tag === undefined ? "" : `: none has the tag ${tag}`}`)
  return selected
}

/** Throws unless each exception replaces exactly one case. */
export const checkExceptions = (cases: ReadonlyArray<Case>, exceptions: Exceptions) => {
  for (const title of Object.keys(exceptions)) {
    const { length } = cases.filter((each) => each.title === title)
    if (length !== 1) throw new Error(`An exception must replace one case, but replaces ${length}: ${title}`)
  }
}

/** Registers the cases with vitest, and a last test that all of them have run. */
export const register = (cases: ReadonlyArray<Case>, exceptions: Exceptions, fixture: () => Fixture) => {
  checkExceptions(cases, exceptions)
  const ran = new Set<Case>()
  for (const [group, members] of Map.groupBy(cases, (each) => each.group)) {
    vitest.describe(group, () => {
      for (const each of members) {
        const exception = Object.hasOwn(exceptions, each.title) ? exceptions[each.title] : undefined
        const title = exception === undefined ? each.title : `differs, because ${exception.why}: ${each.title}`
        const run = exception === undefined ? each.run : () => exception.instead(fixture())
        vitest.it(title, { ...(each.timeout === undefined ? {} : { timeout: each.timeout }) }, () => {
          ran.add(each)
          return run()
        })
      }
    })
  }
  vitest.it(`runs all ${cases.length} selected cases`, () => {
    vitest.expect(cases.filter((each) => !ran.has(each))).toEqual([])
  })
}
