/**
 * Preloaded into a server process (`node --import`): measures the longest turn of its event loop. Each message from the parent
 * is answered with the longest turn since the last message.
 */

export interface LongestTurn {
  /** CPU time of the main thread within one turn (ms): not affected by other processes on the machine. */
  readonly cpuMs: number
  readonly wallMs: number
}

const cpuMs = (): number => {
  const { system, user } = process.threadCpuUsage()
  return (system + user) / 1_000
}

let longest: LongestTurn = { cpuMs: 0, wallMs: 0 }
let last = { cpuMs: cpuMs(), wallMs: performance.now() }

const endTurn = (): void => {
  const now = { cpuMs: cpuMs(), wallMs: performance.now() }
  longest = {
    cpuMs: Math.max(longest.cpuMs, now.cpuMs - last.cpuMs),
    wallMs: Math.max(longest.wallMs, now.wallMs - last.wallMs)
  }
  last = now
}

// A timer runs once in each turn that takes at least a millisecond.
setInterval(endTurn, 1).unref()

process.on("message", () => {
  endTurn()
  process.send?.(longest)
  longest = { cpuMs: 0, wallMs: 0 }
})
