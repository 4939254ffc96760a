/** What the fuzzers have in common: their options, and their results. */
import type { Kind } from "../harness/Store.ts"
import * as Table from "../harness/Table.ts"
import type { Tally } from "./Tally.ts"

export interface Result {
  readonly fuzzer: string
  readonly storage: Kind | "memory"
  readonly tally: Tally
  readonly seconds: number
  /** Repeats what is wrong in a round. */
  readonly commandOf: (round: number) => string
}

/** Prints the results of one fuzzer. */
export const table = (counted: ReadonlyArray<string>, results: ReadonlyArray<Result>): string => {
  const columns: Table.Columns<Result> = [
    ["fuzzer", ({ fuzzer }) => fuzzer],
    ["storage", ({ storage }) => storage],
    ...counted.map((name) => [name, ({ tally }: Result) => tally.of(name)] as const),
    ["wrong", ({ tally }) => tally.wrongs],
    ["seconds", ({ seconds }) => seconds.toFixed(1)],
    ["result", ({ tally }) => (tally.wrongs === 0 ? "passed" : "FAILED")]
  ]
  return Table.markdown(columns, results)
}

/** The other counts, and what is wrong with the commands that repeat it. */
export const details = (counted: ReadonlyArray<string>, results: ReadonlyArray<Result>): string =>
  results
    .flatMap(({ commandOf, fuzzer, storage, tally }) => {
      const name = `${fuzzer} on ${storage}`
      const others = Array.from(tally.counts).filter(([each]) => !counted.includes(each))
      const more = tally.wrongs - tally.wrong.length
      return [
        ...others.sort().map(([each, count]) => `${name}: ${count} × ${each}`),
        ...tally.wrong.map(({ round, text }) => `${name}: WRONG: ${text}\n  ${commandOf(round)}`),
        ...(more > 0 ? [`${name}: WRONG: and ${more} more`] : [])
      ]
    })
    .join("\n")
