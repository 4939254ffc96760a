/** How a suite's cases are written down: each is known by its title, and a transport may stand in for one with its own. */
import { format } from "node:util"
import { expect, it as test } from "vitest"
import type { Subject } from "./Subject.ts"

type Run = () => Promise<void>

interface It {
  (title: string, run: Run, timeout?: number): void
  /** A case per row; its values stand for `%s` and `%j` in the title. */
  readonly each: {
    <const Row extends ReadonlyArray<unknown>>(
      rows: ReadonlyArray<Row>
    ): (title: string, run: (...row: [...Row]) => Promise<void>) => void
    <Value>(values: ReadonlyArray<Value>): (title: string, run: (value: Value) => Promise<void>) => void
  }
}

export interface Cases {
  readonly it: It
  readonly subject: () => Subject
}

/** Stands in for a case that cannot hold over a transport. */
interface Exception {
  /** Why it cannot hold; stands in the test's name. */
  readonly why: string
  /** What happens over this transport instead. */
  readonly instead: (subject: Subject) => Promise<void>
}

/** By the titles of the cases that they stand in for. */
export type Exceptions = Readonly<Record<string, Exception>>

/**
 * Calls `define` with an `it` that knows of the exceptions, and puts a last case behind its cases: that there are `count`
 * of them, and that all were run. It fails, too, where an exception stands in for no case, or for more than one.
 */
export const register = (
  define: (cases: Cases) => void,
  {
    count,
    exceptions,
    subject
  }: { readonly count: number; readonly exceptions: Exceptions; readonly subject: () => Subject }
) => {
  const titles: Array<string> = []
  const begun: Array<string> = []

  const add: (...args: Parameters<It>) => void = (title, run, timeout) => {
    const exception = Object.hasOwn(exceptions, title) ? exceptions[title]! : undefined
    titles.push(title)
    const name = exception === undefined ? title : `does otherwise, for ${exception.why}: ${title}`
    test(
      name,
      () => {
        begun.push(title)
        return exception === undefined ? run() : exception.instead(subject())
      },
      timeout
    )
  }
  const each =
    (rows: ReadonlyArray<unknown>) => (title: string, run: (...values: ReadonlyArray<any>) => Promise<void>) => {
      const areRows = rows.every((row) => Array.isArray(row))
      const places = title.split("%").length - 1
      for (const row of rows) {
        const values: ReadonlyArray<unknown> = areRows ? (row as ReadonlyArray<unknown>) : [row]
        add(format(title, ...values.slice(0, places)), () => run(...values))
      }
    }
  define({ it: Object.assign(add, { each }), subject })

  const others = Object.keys(exceptions)
  test(`has run the ${count} cases of every transport, ${others.length} of them otherwise`, () => {
    // What stands in a `describe` is defined after all this has returned.
    for (const title of others) {
      const { length } = titles.filter((one) => one === title)
      if (length !== 1) throw new Error(`An exception for ${length} cases, expected one: ${title}`)
    }
    expect(titles).toHaveLength(count)
    expect(begun).toEqual(titles)
  })
}
