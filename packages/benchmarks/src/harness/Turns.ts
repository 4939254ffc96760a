/** Measures turn by turn, so that what else the machine does falls on all alike. */

/** Milliseconds of one read, on the average of so many. */
const average = async (reads: number, read: () => Promise<unknown>): Promise<number> => {
  const started = performance.now()
  for (let n = 0; n < reads; n++) await read()
  return (performance.now() - started) / reads
}

/** For each of the reads, what each turn took: milliseconds of one, on the average of `reads`. */
export const alternate = async (turns: number, reads: number, bodies: ReadonlyArray<() => Promise<unknown>>) => {
  const taken = bodies.map(() => [] as Array<number>)
  for (let turn = 0; turn <= turns; turn++) {
    for (const [index, body] of bodies.entries()) {
      const time = await average(reads, body)
      // The first one warms up.
      if (turn > 0) taken[index]!.push(time)
    }
  }
  return taken
}
