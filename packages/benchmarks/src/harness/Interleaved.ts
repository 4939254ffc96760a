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

/** What single reads took. */
export interface Samples {
  /** The duration of each read. */
  readonly ms: Array<number>
  /** CPU time of this process for each read, the average of each round (ms). */
  readonly cpuMs: Array<number>
}

/** Runs the sides in turn, `reads` sequential reads each. */
export const samples = async (rounds: number, reads: number, sides: ReadonlyArray<() => Promise<unknown>>) => {
  const taken = sides.map((): Samples => ({ ms: [], cpuMs: [] }))
  for (let round = 0; round <= rounds; round++) {
    for (const [index, side] of sides.entries()) {
      const ms: Array<number> = []
      const before = process.cpuUsage()
      for (let n = 0; n < reads; n++) {
        const startedAt = performance.now()
        await side()
        ms.push(performance.now() - startedAt)
      }
      const { system, user } = process.cpuUsage(before)
      // Round 0 is the warm-up.
      if (round === 0) continue
      taken[index]!.ms.push(...ms)
      taken[index]!.cpuMs.push((system + user) / 1000 / reads)
    }
  }
  return taken
}
