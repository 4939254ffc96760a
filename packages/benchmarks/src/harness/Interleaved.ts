/** Interleaved measurements: other load on the machine then affects all sides equally. */

/** The average duration of one of `reads` sequential reads (ms). */
const average = async (reads: number, read: () => Promise<unknown>): Promise<number> => {
  const startedAt = performance.now()
  for (let n = 0; n < reads; n++) await read()
  return (performance.now() - startedAt) / reads
}

/** Runs the sides in turn. Returns for each side the average duration of a read in each round (ms). */
export const averages = async (rounds: number, reads: number, sides: ReadonlyArray<() => Promise<unknown>>) => {
  const durations = sides.map(() => [] as Array<number>)
  for (let round = 0; round <= rounds; round++) {
    for (const [index, side] of sides.entries()) {
      const duration = await average(reads, side)
      // Round 0 is the warm-up.
      if (round > 0) durations[index]!.push(duration)
    }
  }
  return durations
}
