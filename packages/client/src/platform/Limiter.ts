/** Runs work in the background so that it leaves threads and open files of the process to the application. */
export interface Limiter {
  /** Runs it as soon as fewer than the limit run. The first that came goes first. */
  readonly run: <A>(work: () => Promise<A>) => Promise<A>
}

export const make = (limit: number): Limiter => {
  const waiting: Array<() => void> = []
  let active = 0
  return {
    run: async (work) => {
      if (active < limit) active++
      else await new Promise<void>((resolve) => waiting.push(resolve))
      try {
        return await work()
      } finally {
        // The next one takes over the place.
        const next = waiting.shift()
        if (next === undefined) active--
        else next()
      }
    }
  }
}
